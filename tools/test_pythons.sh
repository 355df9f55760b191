#!/usr/bin/env bash
# The fast tests on every supported Python that pyenv has, but the one of the main environment.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
main=$("$root/.venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4]*/bin/python; do
  [ -x "$python" ] || continue
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ "$version" != "$main" ] || continue
  echo "== fast tests on Python $version"
  # A copy of the tree, so that the compiled kernels of two Pythons never meet.
  copy=$(mktemp -d)
  git -C "$root" ls-files -z | (cd "$root" && xargs -0 cp --parents -t "$copy")
  (cd "$copy" && make -s test-fast PYTHON="$python" VENV="$copy/.venv" EXTRAS=arrow,test)
  rm -rf "$copy"
done

#!/usr/bin/env bash
# test_pythons.sh EXTRAS: the fast tests on every supported Python that pyenv has, but the one of the main environment;
# all at the same time. PYTHONS=newest takes the newest of them alone.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
main=$("$root/.venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A running
pythons=("${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4]*/bin/python)
[ "${PYTHONS:-all}" != newest ] || pythons=("${pythons[-1]}")
for python in "${pythons[@]}"; do
  [ -x "$python" ] || continue
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ "$version" != "$main" ] || continue
  # A copy of the tree, so that the compiled kernels of two Pythons never meet.
  mkdir "$work/$version"
  git -C "$root" ls-files -z | (cd "$root" && xargs -0 cp --parents -t "$work/$version")
  # What Cython wrote is the same for every Python; setup.py writes it again where a source is another one.
  mkdir -p "$root/build/kernels"
  (cd "$root" && find build/kernels kserdes_base kafka_core/kernels serdes/kernels -name '*.sha256' -o -name '*.c') |
    (cd "$root" && xargs -r cp --parents -t "$work/$version")
  make -s -C "$work/$version" test-fast PYTHON="$python" VENV="$work/$version/.venv" \
    EXTRAS="$1" PYTEST_ARGS="${PYTEST_ARGS:-}" >"$work/$version.log" 2>&1 &
  running[$version]=$!
done
failed=0
for version in "${!running[@]}"; do
  verdict=passed
  wait "${running[$version]}" || { verdict=FAILED; failed=1; }
  echo "== fast tests on Python $version: $verdict"
  if [ "$verdict" = passed ]; then tail -n 3 "$work/$version.log"; else cat "$work/$version.log"; fi
done
exit $failed

"""pipeline: what it says where Spark's packages are missing."""

from __future__ import annotations

import subprocess
import sys


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pyarrow'] = None; import pipeline"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ModuleNotFoundError: pyarrow is not installed: "
        "pip install pyspark pyarrow pandas (the extra 'spark' of kserdes)\n"
    )

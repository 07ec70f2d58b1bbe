#!/usr/bin/env bash
# The tests with other versions of the dependencies than the locked ones (needs uv).
#   with_versions.sh lowest-direct   the oldest that pyproject.toml allows
#   with_versions.sh highest         the newest there are
# Further arguments go to pytest. Warnings are no errors here: old versions warn of newer ones.
set -euo pipefail
cd "$(dirname "$0")/../.."
resolution=$1
shift
place=build/versions/$resolution
mkdir -p "$place"
uv pip compile --quiet --no-header --no-annotate --all-extras --python-version 3.11 \
  --resolution "$resolution" --output-file "$place/requirements.txt" --upgrade pyproject.toml
uv venv --quiet --allow-existing --python 3.11 "$place/env"
uv pip sync --quiet --python "$place/env/bin/python" "$place/requirements.txt"
uv pip install --quiet --python "$place/env/bin/python" --no-deps --editable .
uv pip install --quiet --python "$place/env/bin/python" --no-deps -r tests/models/requirements.txt
"$place/env/bin/python" -m pytest -o filterwarnings=default -p no:cacheprovider -n auto \
  --dist loadgroup "$@"

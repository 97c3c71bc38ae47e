#!/usr/bin/env bash
# Makes a client of a program's OpenAPI documents, and compiles the check with it: build.sh KINDSMITH PROGRAM
# The mistakes in mistakes.ts must not compile.
set -euo pipefail
kindsmith=$(realpath "$1")
program=$(realpath "$2")
cd "$(dirname "$0")"
rm -rf generated out
"$kindsmith" export openapi --program "$program" --out generated
# A field with a default may be left out of what is sent, and a patch is any object.
npx openapi-typescript generated/library.example.com_v1.json --output generated/library.ts \
  --default-non-nullable=false --empty-objects-unknown
npx tsc
# Each mistake is on the line after one that names its error.
expected=$(sed -n 's|^ *// expect \(TS[0-9]*\)$|\1|p' mistakes.ts)
found=$(npx tsc --noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --types node mistakes.ts |
  sed -n 's|^mistakes.ts([0-9,]*): error \(TS[0-9]*\): .*|\1|p' || true)
if [ "$expected" != "$found" ]; then
  echo "mistakes.ts: expected the errors" $expected "and found" $found
  exit 1
fi
echo "$(wc -w <<<"$found") mistakes do not compile"

#!/usr/bin/env bash
# Runs a command against a freshly started example server: with-library.sh SERVER COMMAND...
# `KUBECONFIG` in the command becomes the path of the server's kubeconfig.
set -euo pipefail
server=$(realpath "$1")
shift
folder=$(mktemp -d)
mkfifo "$folder/out"
(cd "$folder" && exec "$server" --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/log") &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
# The first line says that it listens; the rest is read along, so that the server never waits for a reader.
exec 3<"$folder/out"
read -r first <&3
[[ $first == listening* ]] || { echo "the server did not start: $first"; cat "$folder/log"; exit 1; }
cat <&3 >/dev/null &
status=0
"${@/#KUBECONFIG/$folder/data/kubeconfig}" || status=$?
if grep -q panicked "$folder/log"; then
    cat "$folder/log"
    status=1
fi
exit "$status"

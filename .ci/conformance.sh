# Servers under the conformance kit, and its scenarios. Sourced by `.ci/run` and by `just conformance`, which set
# $bin, the folder of the programs, $shared, the shared folder, and $work, a folder for stores and logs.

# The address of a server under the kit, on an empty store.
serve() { # store name, flags…
  "$bin/${server:-conformance-server}" --listen 127.0.0.1:0 --data-dir "$work/$1" \
    --token-file "$shared/conformance/tokens.csv" "${@:2}" >"$work/$1.out" 2>"$work/$1.err" &
  server_pid=$!
  for _ in $(seq 100); do
    grep -q '^listening on' "$work/$1.out" && break
    sleep 0.1
  done
  address=$(sed -n 's/^listening on //p;q' "$work/$1.out")
}

# A member of etcd, for a server under the kit.
start_etcd() {
  local client=http://127.0.0.1:23790 peer=http://127.0.0.1:23800
  etcd --data-dir "$work/etcd" --listen-client-urls $client --advertise-client-urls $client --listen-peer-urls $peer \
    --initial-advertise-peer-urls $peer --initial-cluster default=$peer >"$work/etcd.log" 2>&1 &
  etcd_pid=$!
  for _ in $(seq 100); do
    curl -sf $client/health >/dev/null && break
    sleep 0.1
  done
}

# Replays scenarios against a server of their own, in a subshell.
replay() { # function, store name, flags…
  serve "${@:2}"
  trap 'kill "$server_pid"' EXIT
  "$1"
}

replay_on_etcd() {
  start_etcd
  serve on-etcd --etcd http://127.0.0.1:23790
  trap 'kill "$server_pid" "$etcd_pid"' EXIT
  kit
}

# The kit's scenarios. All steps of the built ones must pass; the others must leave the server standing.
built="apply cel chunks crds crud deletion discovery dry-run field-validation lists media-types namespaces patches ratcheting
  resource-versions roles schema security subresources tables versions watch"
not_built="policies"

# Every scenario is in exactly one of the two lists, and every name in them has a file.
scenarios_are_listed() {
  local good=0 bad=0 name path
  local -A listed=()
  for name in $built $not_built; do listed[$name]=$((${listed[$name]:-0} + 1)); done
  for path in "$shared"/conformance/scenarios/*.json; do
    name=$(basename "$path" .json)
    if [ "${listed[$name]:-0}" -eq 1 ]; then
      good=$((good + 1))
    else
      bad=$((bad + 1))
      echo "scenario $name: listed ${listed[$name]:-0} times as built or not built, expected once"
    fi
    unset "listed[$name]"
  done
  for name in "${!listed[@]}"; do
    bad=$((bad + 1))
    echo "scenario $name: listed, but $shared/conformance/scenarios/$name.json does not exist"
  done
  echo "$good passed, $bad failed"
  [ "$bad" -eq 0 ]
}

# The paths of the scenarios with these names.
scenarios() { # names…
  local name
  for name in "$@"; do printf '%s\n' "$shared/conformance/scenarios/$name.json"; done
}

kit() {
  local files
  mapfile -t files < <(scenarios $built)
  python3 "$shared/conformance/kit.py" replay --server "$address" --token admintoken "${files[@]}"
}

kit_of_the_rest() {
  local files
  mapfile -t files < <(scenarios $not_built)
  python3 "$shared/conformance/kit.py" replay --quiet --server "$address" --token admintoken "${files[@]}"
  if kill -0 "$server_pid" && ! grep -i 'panicked' "$work/rest.err" && curl -sf "$address/readyz" >/dev/null; then
    echo "1 passed, 0 failed"
  else
    echo "0 passed, 1 failed"
  fi
}

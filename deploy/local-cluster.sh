#!/usr/bin/env bash
# A Ray cluster of several nodes on this machine: a head without processors, and workers. All of it
# asks for a token, and it leaves every other Ray on the machine alone.
set -euo pipefail

usage() {
    cat <<'END'
usage: deploy/local-cluster.sh start [--nodes N] [--cpus N]   start a head and N workers (2, of 1 processor each)
       deploy/local-cluster.sh status                         tell what runs; exit code 3 if nothing does
       deploy/local-cluster.sh env                            print what a shell needs to use it
       deploy/local-cluster.sh stop                           stop it, and remove what it left behind

  $ deploy/local-cluster.sh start
  $ eval "$(deploy/local-cluster.sh env)"
  $ plymill book build --opening 444444 --address "$RAY_ADDRESS"

PLYMILL_CLUSTER_DIR is where the cluster is remembered (~/.local/state/plymill/cluster).
END
}

fail() {
    echo "local-cluster.sh: $*" >&2
    exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -x "$root/.venv/bin/ray" ]; then
    PATH=$root/.venv/bin:$PATH
fi
state=${PLYMILL_CLUSTER_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/plymill/cluster}
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$state/token RAY_USAGE_STATS_ENABLED=0
unset RAY_AUTH_TOKEN RAY_ADDRESS # another cluster's
memory=$((2 * 1024 * 1024 * 1024))
store=$((100 * 1024 * 1024))

free_ports() { # as many as asked for, all different
    python - "$1" <<'END'
import socket
import sys

sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
END
}

own_address() { # where Ray would listen on this machine
    python -c 'import ray.util; print(ray.util.get_node_ip_address())'
}

node() { # NAME ARGUMENTS...: start a node in a session of its own, so that all of it can be ended
    local name=$1
    shift
    setsid ray start --block --disable-usage-stats --object-store-memory="$store" \
        --dashboard-agent-listen-port=0 "$@" </dev/null >"$state/$name.log" 2>&1 &
    echo $! >"$state/$name.session"
}

members() { # SESSION: the processes in it; not those that only wait for their parent to notice
    { ps -o pid=,stat= -s "$1" || true; } | awk '$2 !~ /^Z/ { print $1 }'
}

end_session() { # SESSION: ask all of it to end, and make it after ten seconds
    local left signal
    for signal in TERM KILL; do
        # shellcheck disable=SC2046  # one word a process
        kill "-$signal" $(members "$1") 2>/dev/null || true
        for _ in $(seq 100); do
            left=$(members "$1")
            [ -n "$left" ] || return 0
            sleep 0.1
        done
    done
}

running() { # whether any node is there
    local file
    for file in "$state"/*.session; do
        if [ -e "$file" ] && [ -n "$(members "$(cat "$file")")" ]; then
            return 0
        fi
    done
    return 1
}

wait_for() { # NODES: until so many are there
    timeout 120 python - "$1" "$(cat "$state/address")" <<'END'
import logging
import sys
import time

import ray

nodes, address = int(sys.argv[1]), sys.argv[2]
while True:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        break
    except Exception:  # the head is not there yet, which Ray tells in many ways
        time.sleep(0.5)
while sum(node["Alive"] for node in ray.nodes()) < nodes:
    time.sleep(0.2)
END
}

start() {
    local nodes=2 cpus=1 port dashboard client number temporary
    while [ $# -gt 0 ]; do
        case $1 in
            --nodes) nodes=${2:?--nodes needs a number} ;;
            --cpus) cpus=${2:?--cpus needs a number} ;;
            *) fail "there is no option '$1'; expected --nodes or --cpus" ;;
        esac
        shift 2
    done
    [[ $nodes =~ ^[1-9][0-9]*$ && $cpus =~ ^[1-9][0-9]*$ ]] || fail "--nodes and --cpus are whole numbers from 1"
    command -v ray >/dev/null || fail "there is no command 'ray'; 'make build' installs it, or 'pip install plymill'"
    ! running || fail "a cluster is running already; '$0 stop' stops it"
    mkdir -p "$state"
    chmod 700 "$state"
    rm -f "$state"/*.session "$state"/*.log
    (umask 077 && python -c 'import secrets; print(secrets.token_hex(32), end="")' >"$state/token")
    temporary=$(mktemp -d /tmp/plymill.XXXXXX) # a short path: sockets lie in it
    echo "$temporary" >"$state/temporary"
    read -r port dashboard client <<<"$(free_ports 3)"
    echo "$(own_address):$port" >"$state/address"
    echo "http://127.0.0.1:$dashboard" >"$state/dashboard"
    node head --head --port="$port" --num-cpus=0 --memory=0 --temp-dir="$temporary" \
        --dashboard-host=127.0.0.1 --dashboard-port="$dashboard" --ray-client-server-port="$client"
    wait_for 1 || give_up
    for number in $(seq "$nodes"); do # one after the other, as busy machines start them slowly
        node "worker-$number" --address="$(cat "$state/address")" --num-cpus="$cpus" --memory="$memory"
        wait_for $((number + 1)) || give_up
    done
    echo "A head and $nodes workers of $cpus processors each run at $(cat "$state/address")."
    echo "To use them: eval \"\$($0 env)\""
}

give_up() {
    tail -n 5 "$state"/*.log >&2
    stop
    fail "the cluster did not start; what its nodes said last stands above"
}

stop() {
    local file
    for file in "$state"/worker-*.session "$state"/head.session; do
        if [ -e "$file" ]; then
            end_session "$(cat "$file")"
            rm -f "$file"
        fi
    done
    if [ -e "$state/temporary" ]; then
        rm -rf "$(cat "$state/temporary")"
    fi
    rm -f "$state"/{token,address,dashboard,temporary} "$state"/*.log
}

status() {
    local file name
    if ! running; then
        echo "No cluster runs."
        exit 3
    fi
    echo "Address $(cat "$state/address"), dashboard and jobs at $(cat "$state/dashboard")"
    for file in "$state"/head.session "$state"/worker-*.session; do
        name=$(basename "$file" .session)
        if [ -n "$(members "$(cat "$file")")" ]; then
            echo "  $name: runs, session $(cat "$file")"
        else
            echo "  $name: gone; its last words are in $state/$name.log"
        fi
    done
}

environment() {
    running || fail "no cluster runs; '$0 start' starts one"
    cat <<END
export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN_PATH='$state/token'
export RAY_ADDRESS='$(cat "$state/address")'
export PLYMILL_ADDRESS='$(cat "$state/dashboard")'
END
}

case ${1:-} in
    start) shift && start "$@" ;;
    stop) stop ;;
    status) status ;;
    env) environment ;;
    -h | --help) usage ;;
    *)
        usage >&2
        exit 2
        ;;
esac

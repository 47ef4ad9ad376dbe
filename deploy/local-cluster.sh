#!/usr/bin/env bash
# A Ray cluster of several nodes on this machine: a head without processors, and workers. All of it
# asks for a token, and it leaves every other Ray on the machine alone. It needs Linux.
set -euo pipefail

usage() {
    cat <<'END'
usage: deploy/local-cluster.sh start [--nodes N] [--cpus N]   start a head and N workers (2, of 1 processor each)
       deploy/local-cluster.sh add [--cpus N]                 start one more worker, while the others run
       deploy/local-cluster.sh status                         tell what runs; exit code 3 if nothing does
       deploy/local-cluster.sh env                            print what a shell needs to use it
       deploy/local-cluster.sh stop                           stop it, and remove what it left behind

  $ deploy/local-cluster.sh start
  $ eval "$(deploy/local-cluster.sh env)"
  $ plymill book build --opening 444444 --address "$RAY_ADDRESS"

It needs Linux, and each node takes some seconds to start, more on a busy machine.
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

counted() { # NUMBER WORD: with an s, unless there is one
    if [ "$1" = 1 ]; then echo "1 $2"; else echo "$1 $2s"; fi
}

node() { # NAME ARGUMENTS...: start a node in a session of its own, so that all of it can be ended
    local name=$1
    shift
    echo "Starting the node $name ..."
    setsid ray start --block --disable-usage-stats --node-name="$name" --object-store-memory="$store" \
        --dashboard-agent-listen-port=0 "$@" </dev/null >"$state/$name.log" 2>&1 &
    echo "$! $(birth $!)" >"$state/$name.session"
}

birth() { # PROCESS: boot of the machine and start of the process; without a start if it is gone
    local fields=
    { read -r fields <"/proc/$1/stat"; } 2>/dev/null || true
    # shellcheck disable=SC2086  # one word a field, those after the name in parentheses
    set -- ${fields##*) }
    echo "$(</proc/sys/kernel/random/boot_id):${20:-}"
}

number_of() { # FILE: the session of a node, unless another has its number by now
    local number born now
    read -r number born <"$1" || return 0
    now=$(birth "$number")
    # What is left of a session without its first process keeps the number taken.
    if [ "$now" = "$born" ] || [ "$now" = "${born%:*}:" ]; then echo "$number"; fi
}

members() { # FILE: the processes of a node; not those that only wait for their parent to notice
    local number
    number=$(number_of "$1")
    [ -z "$number" ] || { ps -o pid=,stat= -s "$number" || true; } | awk '$2 !~ /^Z/ { print $1 }'
}

end_session() { # FILE: ask all of a node to end, and make it after ten seconds
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
        if [ -e "$file" ] && [ -n "$(members "$file")" ]; then
            return 0
        fi
    done
    return 1
}

worker() { # NUMBER PROCESSORS: start one, and wait until it has joined
    node "worker-$1" --address="$(cat "$state/address")" --num-cpus="$2" --memory="$memory"
    wait_for "worker-$1"
}

wait_for() { # NAME: until this node is there
    timeout 120 python - "$1" "$(cat "$state/address")" <<'END'
import logging
import sys
import time

import ray

name, address = sys.argv[1:]
while True:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        break
    except Exception:  # the head is not there yet, which Ray tells in many ways
        time.sleep(0.5)
while not any(node["Alive"] and node["NodeName"] == name for node in ray.nodes()):
    time.sleep(0.2)
END
}

options() { # ALLOWED ARGUMENTS...: sets nodes and cpus
    local allowed=$1
    shift
    nodes=2 cpus=1
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) usage && exit 0 ;;
        esac
        [[ " $allowed " == *" $1 "* ]] || fail "there is no option '$1'; expected ${allowed/ / or }"
        [ $# -gt 1 ] || fail "$1 needs a number"
        case $1 in
            --nodes) nodes=$2 ;;
            --cpus) cpus=$2 ;;
        esac
        shift 2
    done
    [[ $nodes =~ ^[1-9][0-9]*$ && $cpus =~ ^[1-9][0-9]*$ ]] || fail "--nodes and --cpus are whole numbers from 1"
}

require() { # what a node needs of the machine
    [ "$(uname -s)" = Linux ] || fail "it needs Linux, as each node is a session that 'setsid' starts and 'ps' lists"
    command -v ray >/dev/null || fail "there is no command 'ray'; 'make build' installs it"
}

start() {
    local nodes cpus port dashboard client number temporary each=
    options "--nodes --cpus" "$@"
    require
    ! running || fail "a cluster is running already; '$0 add' adds a worker, '$0 stop' stops it"
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
    wait_for head || give_up
    for number in $(seq "$nodes"); do # one after the other, as busy machines start them slowly
        worker "$number" "$cpus" || give_up
    done
    [ "$nodes" = 1 ] || each=" each"
    echo "A head and $(counted "$nodes" worker) with $(counted "$cpus" processor)$each: at $(cat "$state/address")."
    echo "To use them: eval \"\$($0 env)\""
}

add() {
    local nodes cpus number=1
    options "--cpus" "$@"
    require
    running || fail "no cluster runs; '$0 start' starts one"
    while [ -e "$state/worker-$number.session" ]; do
        number=$((number + 1))
    done
    if ! worker "$number" "$cpus"; then
        tail -n 5 "$state/worker-$number.log" >&2
        end_session "$state/worker-$number.session"
        rm -f "$state/worker-$number.session"
        fail "the worker did not join; what it said last stands above"
    fi
    echo "worker-$number with $(counted "$cpus" processor) has joined."
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
            end_session "$file"
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
        if [ -n "$(members "$file")" ]; then
            echo "  $name: runs, session $(number_of "$file")"
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
    add) shift && add "$@" ;;
    stop) stop ;;
    status) status ;;
    env) environment ;;
    -h | --help) usage ;;
    *)
        usage >&2
        exit 2
        ;;
esac

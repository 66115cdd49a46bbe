#!/bin/bash
# Runs a command on the first of so many hosts: network namespaces, each with an address and a name of its own, joined by veth pairs and a bridge.
#
#   unshare --net --mount --pid --fork --kill-child --mount-proc cluster.sh HOSTS COMMAND…
#
# The hosts are 10.77.0.1, 10.77.0.2, …, called lab, gen1, gen2, …; what starts a command on one of them, as ssh would, is in $CLUSTER_AGENT.
# WITH_gen1='unshare --time …' (any command that starts another) is put before all that starts on gen1. ADDRESSES is how many addresses each generator has.
# With this script everything ends, since it is the first process of a PID namespace; what the command itself left behind is written to $CLUSTER_LEFT.
set -eu

number=$1
shift
addresses=${ADDRESSES:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

on() { # on PID COMMAND…: in the network and under the name of that host
    nsenter --net="/proc/$1/ns/net" --uts="/proc/$1/ns/uts" "${@:2}"
}

ip link set lo up
ip link add bridge0 type bridge
ip link set bridge0 up
own=$(readlink /proc/self/ns/net)
for ((host = 0; host < number; host++)); do
    unshare --net --uts sleep infinity &
    pid=$!
    while [[ $(readlink "/proc/$pid/ns/net") == "$own" ]]; do sleep 0.01; done
    name=lab
    ((host == 0)) || name=gen$host
    echo "$pid $name" >"$folder/10.77.0.$((host + 1))"
    ip link add "up$host" type veth peer name eth0 netns "$pid"
    ip link set "up$host" master bridge0 up
    on "$pid" hostname "$name"
    on "$pid" ip link set lo up
    on "$pid" ip link set eth0 up
    on "$pid" ip address add "10.77.0.$((host + 1))/16" dev eth0
    for ((more = 1; host > 0 && more < addresses; more++)); do
        on "$pid" ip address add "10.77.$host.$more/16" dev eth0
    done
done

# As mpirun calls it: HOST COMMAND…, the command for a shell to read.
cat >"$folder/agent" <<'AGENT'
#!/bin/bash
read -r pid name <"$(dirname "$0")/$1"
shift
with=WITH_$name
# shellcheck disable=SC2086
exec ${!with-} nsenter --net="/proc/$pid/ns/net" --uts="/proc/$pid/ns/uts" sh -c "$*"
AGENT
chmod +x "$folder/agent"
export CLUSTER_AGENT=$folder/agent
# Open MPI keeps a folder there by host and process id, and both are alike in every cluster.
export TMPDIR=$folder

# CUT='2 4': the cable of gen2 is cut after four seconds.
if [[ -n ${CUT-} ]]; then
    read -r cut after <<<"$CUT"
    (sleep "$after" && ip link set "up$cut" down) &
fi

# CAPTURE=FILE: all that passes between the hosts.
capturing=
if [[ -n ${CAPTURE-} ]]; then
    tshark -q -i up1 -i up2 -s 128 -w "$CAPTURE" 2>/dev/null &
    capturing=$!
    while [[ ! -s $CAPTURE ]]; do sleep 0.05; done
    sleep 0.5
fi

status=0
read -r lab _ <"$folder/10.77.0.1"
on "$lab" "$@" || status=$?
if [[ -n $capturing ]]; then
    kill -INT "$capturing"
    wait "$capturing" || true
fi

# Whoever is killed is gone a moment later.
for _ in {1..30}; do
    left=$(ps -e -o pid=,ppid=,args= | grep -v -e ' sleep infinity' -e cluster.sh -e 'ps -e' -e 'grep -v' -e ' \[' || true)
    [[ -n $left ]] || break
    sleep 0.1
done
[[ -z ${CLUSTER_LEFT-} ]] || echo -n "$left" >"$CLUSTER_LEFT"
exit "$status"

#!/bin/bash
# Runs a command in a control group that may use so many percent of one CPU: quota.sh NAME PERCENT COMMAND…
# The group is left; whoever asked for it removes it when its processes are gone (quota.sh NAME remove).
set -eu
name=$1
if [[ -d /sys/fs/cgroup/cpu ]]; then
    group=/sys/fs/cgroup/cpu/$name
else
    group=/sys/fs/cgroup/$name
fi
if [[ $2 == remove ]]; then
    rmdir "$group"
    exit
fi
mkdir -p "$group"
if [[ -d /sys/fs/cgroup/cpu ]]; then
    echo 100000 >"$group/cpu.cfs_period_us"
    echo $(($2 * 1000)) >"$group/cpu.cfs_quota_us"
else
    echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
    echo "$(($2 * 1000)) 100000" >"$group/cpu.max"
fi
echo $$ >"$group/cgroup.procs"
exec "${@:3}"

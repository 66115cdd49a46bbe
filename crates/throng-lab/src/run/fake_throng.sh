#!/bin/sh
# Plays `throng serve MODEL` and `throng load` for the tests of run.rs, as told by two scripts beside the name by which it
# was called: a link to this file in a test's own folder. (A program written by the test itself could not be started
# reliably: while another thread forks, it counts as open for writing.)
here=$(dirname "$0")
case $1 in
serve | load) . "$here/$1.sh" ;;
esac

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_throng_global_optspecs
    string join \n h/help V/version
end

function __fish_throng_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_throng_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_throng_using_subcommand
    set -l cmd (__fish_throng_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c throng -n "__fish_throng_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_needs_command" -s V -l version -d 'Print version'
complete -c throng -n "__fish_throng_needs_command" -f -a "run" -d 'Run a plan: a built-in one, or your own'
complete -c throng -n "__fish_throng_needs_command" -f -a "echo" -d 'Measure messages per second and latency of servers that answer each message'
complete -c throng -n "__fish_throng_needs_command" -f -a "backlog" -d 'Measure what a short accept queue does to clients, and explain it'
complete -c throng -n "__fish_throng_needs_command" -f -a "accept" -d 'Measure what an accept and a message cost while connections sit idle (C10K)'
complete -c throng -n "__fish_throng_needs_command" -f -a "fanout" -d 'Measure how long N connections take to connect, to be greeted, and all to hear what one says'
complete -c throng -n "__fish_throng_needs_command" -f -a "hold" -d 'Measure how many connections can be held, and how many bytes each takes'
complete -c throng -n "__fish_throng_needs_command" -f -a "churn" -d 'Measure connections that live for one request: cycles of connect, request, reply and close'
complete -c throng -n "__fish_throng_needs_command" -f -a "services" -d 'Measure how long clients take for their requests to several services at once'
complete -c throng -n "__fish_throng_needs_command" -f -a "capacity" -d 'Find the greatest rate at which bounds on latency hold, and how latency grows up to it'
complete -c throng -n "__fish_throng_needs_command" -f -a "serve" -d 'Run a built-in server until SIGTERM or Ctrl-C'
complete -c throng -n "__fish_throng_needs_command" -f -a "servers" -d 'List built-in and catalogued servers, and whether each can run here'
complete -c throng -n "__fish_throng_needs_command" -f -a "doctor" -d 'Show what this machine allows, and the command for each thing to improve'
complete -c throng -n "__fish_throng_needs_command" -f -a "report" -d 'Make a report again from a stored run'
complete -c throng -n "__fish_throng_needs_command" -f -a "compare" -d 'Compare runs, or targets of one run'
complete -c throng -n "__fish_throng_needs_command" -f -a "runs" -d 'List the runs that are kept, label them, remove old ones'
complete -c throng -n "__fish_throng_needs_command" -f -a "explain" -d 'Explain a finding, a check, a figure or a model'
complete -c throng -n "__fish_throng_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c throng -n "__fish_throng_needs_command" -f -a "man" -d 'Print a manual page'
complete -c throng -n "__fish_throng_needs_command" -f -a "load" -d 'Generate load as a job on standard input says (started by run and the experiments)'
complete -c throng -n "__fish_throng_needs_command" -f -a "namespace" -d 'Make a network namespace and hand it over on standard input, a socket (started by run and echo)'
complete -c throng -n "__fish_throng_needs_command" -f -a "guard" -d 'Wait for the end of standard input, and end the process groups told there (started by run and the experiments)'
complete -c throng -n "__fish_throng_needs_command" -f -a "generate" -d 'Write manual pages, completions, and the pages of keys and figures into a folder'
complete -c throng -n "__fish_throng_using_subcommand run" -s c -l connections -d 'Connections (all but backlog, churn, services) [default: 100; accept, hold: 10000; fanout: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l clients -d 'Clients, each with one connection at a time (backlog, churn, services) [default: 32; churn: 100; services: 20]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l workload -d 'What clients request and built-in servers answer; http with http:// targets (all but accept, fanout, hold, phases) [default: oneshot; echo, churn, capacity: echo; services: framed]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l requests -d 'Requests of each client, one after another, each on a new connection (backlog, services) [default: 5; services: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l requests-total -d 'Requests of all clients together, shared evenly; in place of --requests (backlog)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l service-time -d 'Service time of a request: built-in servers are told it, of others it is assumed (backlog) [default: 40ms]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l messages -d 'Stop after exactly this many messages, all connections together (echo, churn, phases)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -s d -l duration -d 'Stop after this long (all but backlog, accept, hold, services) [default: 2s; capacity: 1s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l warmup -d 'Warm-up before the measurement: 300ms or \'1000 messages\' (echo, churn, capacity, phases) [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l confidence -d 'Stop when the 95 % confidence interval\'s half-width ÷ mean is at most this, such as 0.01 (echo, phases)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l max-duration -d 'Longest measurement with --confidence (echo, capacity, phases) [default: 30s; capacity: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l closing -d 'How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none (churn, capacity) [default: fin]' -r -f -a "fin\t''
reset\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l hold -d 'How long all connections stay open before the pings (hold, phases) [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l pings -d 'Connections to ping, spread evenly, or all (hold, phases) [default: 1000 at most]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-concurrency -d 'Connects in flight for each shard; 1: one after another over all shards (fanout, hold, phases) [default: 64, fewer with many shards; fanout: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-rate -d 'Connects begun per second (fanout, hold, phases) [default: as fast as possible]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l repeats -d 'Repeats of each target and setting [default: 6; backlog, fanout, services: 3; hold: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l services -d 'Services: processes of a server that are one target, each asked by every client (services) [default: 20]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l tasks -d 'Tasks of a client under way at once; it has one with each service (services) [default: 25]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l count -d 'How far a service counts for each request: its work (services) [default: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l reuse -d 'Whether a task keeps its connection; false: each request makes one, which is part of its time (services, capacity) [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l listeners -d 'Listeners of each service (services) [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l choice -d 'Which listener of a service is asked: one by chance for each request, or one for all requests of a client (services) [default: random]' -r -f -a "random\t''
bound\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l outstanding -d 'Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop (echo, capacity, phases) [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l lockstep -d 'Lockstep: groups of this many connections send one message each and wait for all replies (echo, phases)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -s r -l rate -d 'Open loop: messages per second over all connections, without waiting for replies (echo, fanout, churn, phases)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l arrivals -d 'Gaps between messages of an open loop (all but backlog, accept, hold, services) [default: constant; capacity: exponential]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l bound -d 'What is to hold, such as \'p99 < 5ms\' or \'p99.9 < 20ms\'; any figure by its key. May be repeated (capacity)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l within -d 'How wide the interval of the answer may be: 5% or 0.05 (capacity) [default: 5%]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l time-limit -d 'Longest search for each target and setting; its answer is then as close as it came (capacity) [default: 2min]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l curve -d 'Points of the curve of latency over the rate, from a tenth of the answer to beyond it; 0 for none (capacity) [default: 8]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l line -d 'Line that one client sends and all receive, without its newline; \\t and other escapes work (fanout) [default: hello]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l greeting -d 'Line that the server greets each connection with (fanout) [default: connected]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l size -d 'Bytes of a message, 1 to 1048576 (all but accept, fanout, services) [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes (all but accept, fanout, services)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes (all but accept, fanout, services)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l method -d 'Method of the request for a page (http://) (echo, backlog, churn, capacity) [default: GET]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l header -d 'Line of that request\'s head; repeatable (echo, backlog, churn, capacity)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l body -d 'Body of that request; same escapes (echo, backlog, churn, capacity)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l body-file -d 'File with the body of that request (echo, backlog, churn, capacity)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l status -d 'Statuses of a page that are right: one such as 200, or a class such as 2xx (echo, capacity) [default: 200 to 399]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l tls -d 'Whether built-in servers that are launched speak TLS; of a running server its address says so (tls://, https://) (echo, hold, capacity, phases) [default: off]' -r -f -a "off\t''
on\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l tls-resumption -d 'Whether connections resume a session that the server gave to an earlier one of the same thread (echo, hold, capacity, phases) [default: false]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l ca -d 'Certificates in PEM that are trusted instead of the system\'s, of authorities or of the server itself (echo, hold, capacity, phases) [default: the system\'s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l sni -d 'Name that a running server is asked for, and that its certificate is to hold (echo, hold, capacity, phases) [default: the target\'s host]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-timeout -d 'Timeout of a connect [default: 10s; backlog: 140s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l timeout -d 'Timeout of a reply [default: 10s; backlog: 120s; fanout: 60s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each; accept: the last one]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024; backlog: 5; services: 1 on Unix sockets, 1024 elsewhere]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4; services: unix]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l server -d 'Lifetime of a server process: one trial, or all trials that differ only in what the generator does (echo, fanout, hold, phases) [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand run" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand run" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand run" -l capture -d 'Keep the observed handshakes, for Wireshark; for backlog' -r -F
complete -c throng -n "__fish_throng_using_subcommand run" -l list -d 'List the built-in plans'
complete -c throng -n "__fish_throng_using_subcommand run" -l delay-inline -d 'Event loops block for the service time, so that all their other connections wait (backlog)'
complete -c throng -n "__fish_throng_using_subcommand run" -l observe -d 'Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time (backlog, churn, capacity)'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-observe -d 'Do not observe the accept queue and the handshakes; most slow requests then have no known cause (backlog, churn, capacity)'
complete -c throng -n "__fish_throng_using_subcommand run" -l published -d 'Call poll as the published program does, with room for all connections from the first call on (accept)'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-spin -d 'Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late (echo, churn, capacity, phases)'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-greeting -d 'The server sends no greeting (fanout)'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-verify -d 'Do not compare the returned bytes with the expected ones (all but accept, fanout)'
complete -c throng -n "__fish_throng_using_subcommand run" -l insecure -d 'Take any certificate, whoever has signed it (echo, hold, capacity, phases)'
complete -c throng -n "__fish_throng_using_subcommand run" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand run" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand run" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand run" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand echo" -s c -l connections -d 'Connections [default: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l workload -d 'What clients request and built-in servers answer; http with http:// targets [default: echo]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l messages -d 'Stop after exactly this many messages, all connections together' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -s d -l duration -d 'Stop after this long [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l warmup -d 'Warm-up before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l confidence -d 'Stop when the 95 % confidence interval\'s half-width ÷ mean is at most this, such as 0.01' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l max-duration -d 'Longest measurement with --confidence [default: 30s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l outstanding -d 'Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l lockstep -d 'Lockstep: groups of this many connections send one message each and wait for all replies' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -s r -l rate -d 'Open loop: messages per second over all connections, without waiting for replies' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l arrivals -d 'Gaps between messages of an open loop [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l size -d 'Bytes of a message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l method -d 'Method of the request for a page (http://) [default: GET]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l header -d 'Line of that request\'s head; repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l body -d 'Body of that request; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l body-file -d 'File with the body of that request' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l status -d 'Statuses of a page that are right: one such as 200, or a class such as 2xx [default: 200 to 399]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l tls -d 'Whether built-in servers that are launched speak TLS; of a running server its address says so (tls://, https://) [default: off]' -r -f -a "off\t''
on\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l tls-resumption -d 'Whether connections resume a session that the server gave to an earlier one of the same thread [default: false]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l ca -d 'Certificates in PEM that are trusted instead of the system\'s, of authorities or of the server itself [default: the system\'s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l sni -d 'Name that a running server is asked for, and that its certificate is to hold [default: the target\'s host]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l timeout -d 'Timeout of a reply [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l server -d 'Lifetime of a server process: one trial, or all trials that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand echo" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand echo" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand echo" -l no-spin -d 'Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late'
complete -c throng -n "__fish_throng_using_subcommand echo" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand echo" -l insecure -d 'Take any certificate, whoever has signed it'
complete -c throng -n "__fish_throng_using_subcommand echo" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand echo" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand echo" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand echo" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand echo" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l clients -d 'Clients, each with one connection at a time [default: 32]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l workload -d 'What clients request and built-in servers answer; http with http:// targets [default: oneshot]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l requests -d 'Requests of each client, one after another, each on a new connection [default: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l requests-total -d 'Requests of all clients together, shared evenly; in place of --requests' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l service-time -d 'Service time of a request: built-in servers are told it, of others it is assumed [default: 40ms]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l repeats -d 'Repeats of each target and setting [default: 3]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l size -d 'Bytes of a message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l method -d 'Method of the request for a page (http://) [default: GET]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l header -d 'Line of that request\'s head; repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l body -d 'Body of that request; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l body-file -d 'File with the body of that request' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l connect-timeout -d 'Timeout of a connect [default: 140s]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l timeout -d 'Timeout of a reply [default: 120s]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l capture -d 'Keep the observed handshakes, for Wireshark; for backlog' -r -F
complete -c throng -n "__fish_throng_using_subcommand backlog" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand backlog" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l delay-inline -d 'Event loops block for the service time, so that all their other connections wait'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l no-observe -d 'Do not observe the accept queue and the handshakes; most slow requests then have no known cause'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand backlog" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand accept" -s c -l connections -d 'Idle connections at the end; each number of a list is a measurement of its own [default: 10000]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l cpus -d 'CPU of the one process, such as :1, or any [default: the last one]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand accept" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand accept" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand accept" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand accept" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand accept" -l published -d 'Call poll as the published program does, with room for all connections from the first call on'
complete -c throng -n "__fish_throng_using_subcommand accept" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand accept" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand accept" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand accept" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand accept" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand fanout" -s c -l connections -d 'Connections [default: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -s d -l duration -d 'How long lines are sent at --rate [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-concurrency -d 'Connects in flight for each shard; 1: one after another over all shards [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-rate -d 'Connects begun per second [default: as fast as possible]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l repeats -d 'Repeats of each target and setting [default: 3]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -s r -l rate -d 'After the single line, send lines at this rate' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l arrivals -d 'Gaps between lines at --rate [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l line -d 'Line that one client sends and all receive, without its newline; \\t and other escapes work [default: hello]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l greeting -d 'Line that the server greets each connection with [default: connected]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l timeout -d 'Timeout of a reply [default: 60s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l server -d 'Lifetime of a server process: one trial, or all trials that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand fanout" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l no-greeting -d 'The server sends no greeting'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand fanout" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand hold" -l hold -d 'How long all connections stay open before the pings [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l pings -d 'Connections to ping, spread evenly, or all [default: 1000 at most]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-concurrency -d 'Connects in flight for each shard; 1: one after another over all shards [default: 64, fewer with many shards]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-rate -d 'Connects begun per second [default: as fast as possible]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l repeats -d 'Repeats of each target and setting [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l size -d 'Bytes of a message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l tls -d 'Whether built-in servers that are launched speak TLS; of a running server its address says so (tls://, https://) [default: off]' -r -f -a "off\t''
on\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l tls-resumption -d 'Whether connections resume a session that the server gave to an earlier one of the same thread [default: false]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l ca -d 'Certificates in PEM that are trusted instead of the system\'s, of authorities or of the server itself [default: the system\'s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l sni -d 'Name that a running server is asked for, and that its certificate is to hold [default: the target\'s host]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l timeout -d 'Timeout of a reply [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l server -d 'Lifetime of a server process: one trial, or all trials that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand hold" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand hold" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand hold" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand hold" -l insecure -d 'Take any certificate, whoever has signed it'
complete -c throng -n "__fish_throng_using_subcommand hold" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand hold" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand hold" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand hold" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand hold" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand churn" -l clients -d 'Clients, each with one connection at a time [default: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l workload -d 'What clients request and built-in servers answer; http with http:// targets [default: echo]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l messages -d 'Stop after exactly this many messages, all connections together' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -s d -l duration -d 'Stop after this long [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l warmup -d 'Warm-up before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l closing -d 'How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none [default: fin]' -r -f -a "fin\t''
reset\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -s r -l rate -d 'Open loop: messages per second over all connections, without waiting for replies' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l arrivals -d 'Gaps between messages of an open loop [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l size -d 'Bytes of a message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l method -d 'Method of the request for a page (http://) [default: GET]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l header -d 'Line of that request\'s head; repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l body -d 'Body of that request; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l body-file -d 'File with the body of that request' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l timeout -d 'Timeout of a reply [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand churn" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand churn" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand churn" -l observe -d 'Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time'
complete -c throng -n "__fish_throng_using_subcommand churn" -l no-spin -d 'Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late'
complete -c throng -n "__fish_throng_using_subcommand churn" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand churn" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand churn" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand churn" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand churn" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand churn" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand services" -l clients -d 'Clients, each with a task at every service [default: 20]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l workload -d 'What services are asked in: frames of JSON, or HTTP [default: framed]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l requests -d 'Requests of each task, one after another [default: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l repeats -d 'Repeats of each target and setting [default: 3]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l services -d 'Services: processes of a server that are one target, each asked by every client [default: 20]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l tasks -d 'Tasks of a client under way at once; it has one with each service [default: 25]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l count -d 'How far a service counts for each request: its work [default: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l reuse -d 'Whether a task keeps its connection; false: each request makes one, which is part of its time [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l listeners -d 'Listeners of each service [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l choice -d 'Which listener of a service is asked: one by chance for each request, or one for all requests of a client [default: random]' -r -f -a "random\t''
bound\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l timeout -d 'Timeout of a reply [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1 on Unix sockets, 1024 elsewhere]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l family -d 'Address family that servers listen on; unix where connections are kept [default: unix]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand services" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand services" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand services" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand services" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand services" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand services" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand services" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand services" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand services" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand services" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand capacity" -s c -l connections -d 'Connections; with --reuse false, clients with one at a time [default: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l workload -d 'What clients request and built-in servers answer; http with http:// targets [default: echo]' -r -f -a "oneshot\t''
http\t''
framed\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -s d -l duration -d 'How long a probe lasts at the least [default: 1s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l warmup -d 'Warm-up before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l max-duration -d 'How long a probe lasts at the most, however many replies its quantiles need [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l closing -d 'How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none [default: fin]' -r -f -a "fin\t''
reset\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l repeats -d 'Repeats of the search for each target and setting, at the least [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l baseline -d 'Target to compare the others with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l seed -d 'Seed of the order of trials, of payloads and arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l reuse -d 'Whether connections are kept; false: each request makes one, which is part of its latency [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l outstanding -d 'Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l arrivals -d 'Gaps between messages of an open loop [default: exponential]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l bound -d 'What is to hold, such as \'p99 < 5ms\' or \'p99.9 < 20ms\'; any figure by its key. May be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l within -d 'How wide the interval of the answer may be: 5% or 0.05 [default: 5%]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l time-limit -d 'Longest search for each target and setting; its answer is then as close as it came [default: 2min]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l curve -d 'Points of the curve of latency over the rate, from a tenth of the answer to beyond it; 0 for none [default: 8]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l size -d 'Bytes of a message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l expect -d 'Where the reply to --send ends: a text, \'N bytes\', \'until DELIMITER\' or, in backlog and churn, \'end\'; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l method -d 'Method of the request for a page (http://) [default: GET]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l header -d 'Line of that request\'s head; repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l body -d 'Body of that request; same escapes' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l body-file -d 'File with the body of that request' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l status -d 'Statuses of a page that are right: one such as 200, or a class such as 2xx [default: 200 to 399]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l tls -d 'Whether built-in servers that are launched speak TLS; of a running server its address says so (tls://, https://) [default: off]' -r -f -a "off\t''
on\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l tls-resumption -d 'Whether connections resume a session that the server gave to an earlier one of the same thread [default: false]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l ca -d 'Certificates in PEM that are trusted instead of the system\'s, of authorities or of the server itself [default: the system\'s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l sni -d 'Name that a running server is asked for, and that its certificate is to hold [default: the target\'s host]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l source -d 'Local addresses to connect from, all of them in every trial (not a sweep)' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l addresses -d 'Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l connect-timeout -d 'Timeout of a connect [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l timeout -d 'Timeout of a reply [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l cpus -d 'CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l net -d 'Network: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s stays as it is. Values with a comma go into a plan file. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l backlog -d 'Backlog of listen(2), the length of the accept queue [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l workers -d 'Worker threads or processes of built-in models that have a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l accept-threads -d 'Threads that only accept, of the built-in model that has a choice [default: the model\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l family -d 'Address family that servers listen on; unix where connections are kept [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l ready-timeout -d 'Timeout for a server to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l listen -d 'Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l patience -d 'Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand capacity" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand capacity" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand capacity" -l observe -d 'Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l no-spin -d 'Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l insecure -d 'Take any certificate, whoever has signed it'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l quick -d 'Fewer and shorter trials: two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l strict -d 'Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l no-html -d 'Write no report.html beside the record'
complete -c throng -n "__fish_throng_using_subcommand capacity" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand capacity" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand serve" -l workload -d 'What the server answers' -r -f -a "echo\t'every byte comes back'
broadcast\t'a greeting, then every line goes to all connections'
http\t'HTTP/1.1, keep-alive; GET /?delay=40 waits 40 ms, GET /?count=1000 counts'
oneshot\t'one answer to the first bytes, then it closes'
framed\t'frames of a length and JSON; {"count": 1000} counts'"
complete -c throng -n "__fish_throng_using_subcommand serve" -l listen -d 'Where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 leaves the choice to the kernel. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l backlog -d 'Length of each accept queue; the kernel clamps it to net.core.somaxconn' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l workers -d 'Threads or processes that serve, for models that have a choice' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l accept-threads -d 'Threads that accept at each listener and start a thread for each connection (thread-per-connection only)' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l hand-over -d 'How a broadcast message passes from its reader to the writers (two-threads-per-connection only) [default: condvar]' -r -f -a "condvar\t'one list under one mutex, and a condition variable that wakes every writer'
queues\t'a queue for each connection, into which the reader puts the message'
broadcaster\t'one more thread, which alone fills every connection\'s queue'"
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay -d 'Delay of each answer of `oneshot`, and of `http` if the request does not name one' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay-ms -d 'The same in milliseconds, as catalogued servers take it: 40, 1.5' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l tls-certificate -d 'Serve over TLS with the certificate in this file, in PEM, those of authorities below the root behind it' -r -F
complete -c throng -n "__fish_throng_using_subcommand serve" -l tls-key -d 'The certificate\'s key, in PEM' -r -F
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay-inline -d 'The handler sleeps for the delay, as a careless one does: an event loop then serves nobody else'
complete -c throng -n "__fish_throng_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -f -a "build" -d 'Build catalogued servers'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -f -a "check" -d 'Check that servers keep the contract: replies, start, end, concurrency model'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l jobs -d 'Servers to check at the same time' -r
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l catalogue -d 'Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l strict -d 'A server that cannot run on this machine fails, named or not'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand doctor" -l format -d 'Form of the report' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand report" -l format -d 'Form of the report' -r -f -a "terminal\t''
html\t''
markdown\t''
csv\t''
csv-tidy\t''
json\t''
hdr-log\t''
hgrm\t''"
complete -c throng -n "__fish_throng_using_subcommand report" -l output -d 'File for the report, for hgrm a folder [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand report" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand report" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand report" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand report" -l schema -d 'Print the JSON Schema of run.json, with --format json that of this report, and do nothing else'
complete -c throng -n "__fish_throng_using_subcommand report" -l full -d 'Show every table, cause and remedy in the terminal, instead of one screen'
complete -c throng -n "__fish_throng_using_subcommand report" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand compare" -l target -d 'Compare targets of one run, the others with the first; repeat it' -r
complete -c throng -n "__fish_throng_using_subcommand compare" -l figure -d 'Figure to compare instead of the usual ones, by its name in CSV and JSON; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand compare" -l format -d 'Form of the comparison' -r -f -a "terminal\t'A table to look at'
html\t'A page with charts, both in each'
markdown\t'The same as GitHub Markdown, for an issue or a pull request'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand compare" -l output -d 'File for the comparison [default: standard output]' -r -F
complete -c throng -n "__fish_throng_using_subcommand compare" -l fail-if -d 'Exit with 1 if a row meets this, such as \'p99 > 5ms\' or \'throughput < 0.95 * baseline\'; may be repeated' -r
complete -c throng -n "__fish_throng_using_subcommand compare" -l undecided -d 'What a condition counts as where the interval is too wide to tell' -r -f -a "pass\t''
fail\t''"
complete -c throng -n "__fish_throng_using_subcommand compare" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand runs; and not __fish_seen_subcommand_from label prune" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand runs; and not __fish_seen_subcommand_from label prune" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand runs; and not __fish_seen_subcommand_from label prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand runs; and not __fish_seen_subcommand_from label prune" -f -a "label" -d 'Give a run a label, under which `throng report` finds it'
complete -c throng -n "__fish_throng_using_subcommand runs; and not __fish_seen_subcommand_from label prune" -f -a "prune" -d 'Remove old runs; those with a label stay'
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from label" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from label" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from prune" -l keep -d 'Runs to keep, the newest' -r
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from prune" -l runs-dir -d 'Folder for the records of runs' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from prune" -l dry-run -d 'Show what would be removed, and remove nothing'
complete -c throng -n "__fish_throng_using_subcommand runs; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand explain" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand completions" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand man" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand load" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand namespace" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand guard" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand generate" -l check -d 'Write nothing; name the files that are stale, and exit with 1 if there are any'
complete -c throng -n "__fish_throng_using_subcommand generate" -s h -l help -d 'Print help'

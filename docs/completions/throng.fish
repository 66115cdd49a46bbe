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
complete -c throng -n "__fish_throng_needs_command" -f -a "run" -d 'Carry out a plan: built in, or your own'
complete -c throng -n "__fish_throng_needs_command" -f -a "serve" -d 'Run a built-in server until SIGTERM or Ctrl-C'
complete -c throng -n "__fish_throng_needs_command" -f -a "servers" -d 'List the servers, built-in and catalogued: what each is, and whether it can run here'
complete -c throng -n "__fish_throng_needs_command" -f -a "doctor" -d 'Show what this machine allows, and the command for each thing to improve'
complete -c throng -n "__fish_throng_needs_command" -f -a "report" -d 'Make a report again from a stored run'
complete -c throng -n "__fish_throng_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c throng -n "__fish_throng_needs_command" -f -a "man" -d 'Print a manual page'
complete -c throng -n "__fish_throng_needs_command" -f -a "load" -d 'Generate load as a job on standard input says (started by run and the experiments)'
complete -c throng -n "__fish_throng_needs_command" -f -a "namespace" -d 'Make a network namespace and hand it over on standard input, a socket (started by run and echo)'
complete -c throng -n "__fish_throng_needs_command" -f -a "guard" -d 'Wait for the end of standard input, and end the process groups told there (started by run and the experiments)'
complete -c throng -n "__fish_throng_needs_command" -f -a "generate" -d 'Write manual pages and completions into a folder'
complete -c throng -n "__fish_throng_needs_command" -f -a "echo" -d 'Measure how many messages a second servers send back, and at what latency'
complete -c throng -n "__fish_throng_needs_command" -f -a "backlog" -d 'Measure what a short accept queue does to clients, and say why'
complete -c throng -n "__fish_throng_needs_command" -f -a "accept" -d 'Measure what an accept and a message cost while connections sit idle (C10K)'
complete -c throng -n "__fish_throng_needs_command" -f -a "fanout" -d 'Measure how long N connections take to connect, to be greeted, and all to hear what one says'
complete -c throng -n "__fish_throng_needs_command" -f -a "hold" -d 'Measure how many connections can be held, and how many bytes each takes'
complete -c throng -n "__fish_throng_needs_command" -f -a "churn" -d 'Measure connections that live for one request: cycles of connect, request, reply and close'
complete -c throng -n "__fish_throng_using_subcommand run" -s c -l connections -d 'Connections [default: 100; experiments accept and hold: 10000; fanout: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l messages -d 'Stop after exactly this many messages over all connections' -r
complete -c throng -n "__fish_throng_using_subcommand run" -s d -l duration -d 'Stop after this long [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l warmup -d 'What is exchanged before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l confidence -d 'Stop when the 95 % confidence interval\'s half-width ÷ mean is at most this, such as 0.01' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l max-duration -d 'The longest that --confidence is waited for [default: 30s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l outstanding -d 'Closed loop: unanswered messages on each connection; open loop: at most so many [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l lockstep -d 'Send in step: groups of this many connections send one message each and wait for all replies' -r
complete -c throng -n "__fish_throng_using_subcommand run" -s r -l rate -d 'Open loop: messages per second over all connections, whatever the replies do' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l arrivals -d 'Gaps of an open loop [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l clients -d 'Clients, each with one connection at a time [default: 32; churn experiment: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l workload -d 'What built-in servers answer, and clients ask [default: oneshot; churn experiment: echo; http with http:// targets]' -r -f -a "oneshot\t''
http\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l requests -d 'Requests that each client makes, one after the other, each on a new connection [default: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l requests-total -d 'The same as a number for all clients together, which share it evenly' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l service-time -d 'How long built-in servers are to take for a request, and others are said to take [default: 40ms]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l closing -d 'How the generator closes: by a FIN, which leaves its port in TIME_WAIT where the server does not close first, or by a RST [default: fin]' -r -f -a "fin\t''
reset\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l hold -d 'How long all connections are held before any is pinged; of the hold experiment [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l pings -d 'Connections that are pinged, spread evenly, or all; of the hold experiment [default: 1000 at most]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-concurrency -d 'Connects in flight at once, for each shard; 1: one after the other, over all. Of the experiments fanout and hold [default: 1; hold: 64, fewer with many shards]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-rate -d 'Connects that begin per second; of the same experiments [default: as fast as they go]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l line -d 'Line that one connection says and all hear; of the fan-out experiment. Escapes such as \\t are read, the newline is added [default: hello]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l greeting -d 'Line that the server greets each connection with; of the fan-out experiment [default: connected]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l size -d 'Bytes of an echoed message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l expect -d 'What ends the reply to --send: a text, \'N bytes\', \'until DELIMITER\', or, in the backlog experiment, \'end\'; escapes as there' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l repeats -d 'Repeats of each target and setting [default: 6; experiments backlog and fanout: 3; hold: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l connect-timeout -d 'How long one connect may take [default: 10s; backlog experiment: 140s, beyond the kernel\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l timeout -d 'How long one reply may take [default: 10s; backlog experiment: 120s; fanout: 60s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l backlog -d 'Length of the accept queue asked for [default: 1024; backlog experiment: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l server -d 'How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand run" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand run" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand run" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand run" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand run" -l capture -d 'Keep the handshakes seen, for Wireshark and the like; of the backlog experiment' -r -F
complete -c throng -n "__fish_throng_using_subcommand run" -l list -d 'List the built-in plans, and do nothing else'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-spin -d 'Sleep until a message is due rather than spin for the last microseconds: frees a core, errs by up to 75 µs'
complete -c throng -n "__fish_throng_using_subcommand run" -l delay-inline -d 'Let event loops wait inline for the service time: nobody else is served meanwhile'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-observe -d 'Observe neither the accept queue nor the handshakes: what slow requests waited for is then mostly not explained'
complete -c throng -n "__fish_throng_using_subcommand run" -l observe -d 'Observe the accept queue and the handshakes, which the churn experiment leaves out since it costs CPU time'
complete -c throng -n "__fish_throng_using_subcommand run" -l published -d 'Call poll as the published program does: with room for all connections from the first call on; of the accept experiment'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-greeting -d 'The server greets nobody; of the fan-out experiment'
complete -c throng -n "__fish_throng_using_subcommand run" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand run" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand run" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand run" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand run" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand serve" -l workload -d 'What the server answers' -r -f -a "echo\t'every byte comes back'
broadcast\t'a greeting, then every line goes to all connections'
http\t'HTTP/1.1, keep-alive; GET /?delay=40 waits 40 ms, GET /?count=1000 counts'
oneshot\t'one answer to the first bytes, then it closes'"
complete -c throng -n "__fish_throng_using_subcommand serve" -l listen -d 'Where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 leaves the choice to the kernel. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l backlog -d 'Length of each accept queue; the kernel clamps it to net.core.somaxconn' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l workers -d 'Threads or processes that serve, for models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l accept-threads -d 'Threads that accept at each listener and start a thread for each connection (thread-per-connection only)' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l hand-over -d 'How what goes to everyone comes from its reader to the writers (two-threads-per-connection only) [default: condvar]' -r -f -a "condvar\t'one list under one mutex, and a condition variable that wakes every writer'
queues\t'a queue for each connection, into which the reader puts the message'
broadcaster\t'one more thread, which alone fills every connection\'s queue'"
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay -d 'How long each answer waits: of `oneshot`, and of `http` where a request does not say itself' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay-ms -d 'The same as a number of milliseconds, as servers of the catalogue take it: 40, 1.5' -r
complete -c throng -n "__fish_throng_using_subcommand serve" -l delay-inline -d 'Let the handler sleep a delay out, as a careless one does: in an event loop everybody else waits too'
complete -c throng -n "__fish_throng_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -f -a "build" -d 'Build catalogued servers'
complete -c throng -n "__fish_throng_using_subcommand servers; and not __fish_seen_subcommand_from build check" -f -a "check" -d 'Try whether servers keep the contract: what they answer, how they start and end, what they are'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from build" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l jobs -d 'Servers that are checked side by side' -r
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l format -d 'Form of the list' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -l strict -d 'Take a server that cannot run on this machine for one that fails, whether or not it was named'
complete -c throng -n "__fish_throng_using_subcommand servers; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand doctor" -l format -d 'Form of the report' -r -f -a "terminal\t'For people'
json\t'For programs'"
complete -c throng -n "__fish_throng_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c throng -n "__fish_throng_using_subcommand report" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand report" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand report" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand report" -l schema -d 'Print the JSON Schema of run.json, and do nothing else'
complete -c throng -n "__fish_throng_using_subcommand report" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand report" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand completions" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand man" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand load" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand namespace" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand guard" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand generate" -l check -d 'Write nothing; name the files that are stale, and exit with 1 if there are any'
complete -c throng -n "__fish_throng_using_subcommand generate" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand echo" -l command -d 'A server of yours to launch; {port}, {address} or {path} (with --family unix) is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -s c -l connections -d 'Connections [default: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l messages -d 'Stop after exactly this many messages over all connections' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -s d -l duration -d 'Stop after this long [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l warmup -d 'What is exchanged before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l confidence -d 'Stop when the 95 % confidence interval\'s half-width ÷ mean is at most this, such as 0.01' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l max-duration -d 'The longest that --confidence is waited for [default: 30s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l outstanding -d 'Closed loop: unanswered messages on each connection; open loop: at most so many [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l lockstep -d 'Send in step: groups of this many connections send one message each and wait for all replies' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -s r -l rate -d 'Open loop: messages per second over all connections, whatever the replies do' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l arrivals -d 'Gaps of an open loop [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l size -d 'Bytes of an echoed message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l expect -d 'What ends the reply to --send: a text, \'N bytes\', \'until DELIMITER\', or, in the backlog experiment, \'end\'; escapes as there' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l connect-timeout -d 'How long one connect may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l timeout -d 'How long one reply may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l backlog -d 'Length of the accept queue asked for [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l server -d 'How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand echo" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand echo" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand echo" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand echo" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand echo" -l no-spin -d 'Sleep until a message is due rather than spin for the last microseconds: frees a core, errs by up to 75 µs'
complete -c throng -n "__fish_throng_using_subcommand echo" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand echo" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand echo" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand echo" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand echo" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l clients -d 'Clients, each with one connection at a time [default: 32]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l workload -d 'What built-in servers answer, and clients ask [default: oneshot; http with http:// targets]' -r -f -a "oneshot\t''
http\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l requests -d 'Requests that each client makes, one after the other, each on a new connection [default: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l requests-total -d 'The same as a number for all clients together, which share it evenly' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l service-time -d 'How long built-in servers are to take for a request, and others are said to take [default: 40ms]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l size -d 'Bytes of an echoed message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l expect -d 'What ends the reply to --send: a text, \'N bytes\', \'until DELIMITER\', or, in the backlog experiment, \'end\'; escapes as there' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l repeats -d 'Repeats of each target and setting [default: 3]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l connect-timeout -d 'How long one connect may take [default: 140s, beyond the kernel\'s own]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l timeout -d 'How long one reply may take [default: 120s]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l backlog -d 'Length of the accept queue asked for [default: 5]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand backlog" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand backlog" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand backlog" -l capture -d 'Keep the handshakes seen, for Wireshark and the like; of the backlog experiment' -r -F
complete -c throng -n "__fish_throng_using_subcommand backlog" -l delay-inline -d 'Let event loops wait inline for the service time: nobody else is served meanwhile'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l no-observe -d 'Observe neither the accept queue nor the handshakes: what slow requests waited for is then mostly not explained'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand backlog" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand backlog" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand accept" -s c -l connections -d 'Connections that pile up; a list measures each number apart [default: 10000]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l cpus -d 'CPU of the one process, such as :1, or any [default: the last one]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l net -d 'Its network: a private one with its own settings, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand accept" -l kernel -d 'Kernel setting of the private network; the host\'s is left as it is. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand accept" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand accept" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand accept" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand accept" -l published -d 'Call poll as the published program does: with room for all connections from the first call on; of the accept experiment'
complete -c throng -n "__fish_throng_using_subcommand accept" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand accept" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand accept" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand accept" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l command -d 'A server of yours to launch; {port}, {address} or {path} (with --family unix) is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -s c -l connections -d 'Connections; a list measures each number apart [default: 1000]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l rate -d 'After the single line, put lines at this rate' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l duration -d 'How long lines are put at --rate [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l arrivals -d 'Gaps between lines at --rate [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-concurrency -d 'Connects in flight at once, for each shard; 1: one after the other, over all. Of the experiments fanout and hold [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-rate -d 'Connects that begin per second; of the same experiments [default: as fast as they go]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l line -d 'Line that one connection says and all hear; of the fan-out experiment. Escapes such as \\t are read, the newline is added [default: hello]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l greeting -d 'Line that the server greets each connection with; of the fan-out experiment [default: connected]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l repeats -d 'Repeats of each target and setting [default: 3]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l connect-timeout -d 'How long one connect may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l timeout -d 'How long one reply may take [default: 60s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l backlog -d 'Length of the accept queue asked for [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l server -d 'How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand fanout" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand fanout" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand fanout" -l no-greeting -d 'The server greets nobody; of the fan-out experiment'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand fanout" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand fanout" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand hold" -l command -d 'A server of yours to launch; {port}, {address} or {path} (with --family unix) is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l hold -d 'How long all connections are held before any is pinged; of the hold experiment [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l pings -d 'Connections that are pinged, spread evenly, or all; of the hold experiment [default: 1000 at most]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-concurrency -d 'Connects in flight at once, for each shard; 1: one after the other, over all. Of the experiments fanout and hold [default: 64, fewer with many shards]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-rate -d 'Connects that begin per second; of the same experiments [default: as fast as they go]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l size -d 'Bytes of an echoed message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l expect -d 'What ends the reply to --send: a text, \'N bytes\', \'until DELIMITER\', or, in the backlog experiment, \'end\'; escapes as there' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l repeats -d 'Repeats of each target and setting [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l connect-timeout -d 'How long one connect may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l timeout -d 'How long one reply may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l backlog -d 'Length of the accept queue asked for [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l server -d 'How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]' -r -f -a "per-trial\t''
per-sweep\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand hold" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand hold" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand hold" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand hold" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand hold" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand hold" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand hold" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand hold" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand hold" -s h -l help -d 'Print help'
complete -c throng -n "__fish_throng_using_subcommand churn" -l command -d 'A server of yours to launch; {port} or {address} is where it must listen. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l clients -d 'Clients, each with one connection at a time [default: 100]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l workload -d 'What built-in servers answer, and clients ask [default: echo]' -r -f -a "oneshot\t''
http\t''
echo\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l messages -d 'Stop after exactly this many messages over all connections' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -s d -l duration -d 'Stop after this long [default: 2s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l warmup -d 'What is exchanged before the measurement: 300ms or \'1000 messages\' [default: 300ms]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l closing -d 'How the generator closes: by a FIN, which leaves its port in TIME_WAIT where the server does not close first, or by a RST [default: fin]' -r -f -a "fin\t''
reset\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -s r -l rate -d 'Open loop: messages per second over all connections, whatever the replies do' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l arrivals -d 'Gaps of an open loop [default: constant]' -r -f -a "constant\t''
exponential\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l size -d 'Bytes of an echoed message, 1 to 1048576 [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l send -d 'Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l expect -d 'What ends the reply to --send: a text, \'N bytes\', \'until DELIMITER\', or, in the backlog experiment, \'end\'; escapes as there' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l repeats -d 'Repeats of each target and setting [default: 6]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l baseline -d 'Target that the others are compared with [default: the first]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l seed -d 'Seed of the order of trials, the payloads and the arrivals [default: 1]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l backend -d 'Kernel interface of the generator [default: auto]' -r -f -a "auto\t''
epoll\t''
io-uring\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l shards -d 'Threads of the generator [default: one for each of its CPUs, more where connections need more descriptors]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l source -d 'Local addresses to connect from: all of these together, no sweep' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l addresses -d 'Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel\'s choice [default: spread]' -r -f -a "spread\t''
kernel\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l nodelay -d 'Whether the generator sets TCP_NODELAY [default: true]' -r -f -a "true\t''
false\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l connect-timeout -d 'How long one connect may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l timeout -d 'How long one reply may take [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l cpus -d 'CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l backlog -d 'Length of the accept queue asked for [default: 1024]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l workers -d 'Worker threads or processes of built-in models in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l accept-threads -d 'Threads that do nothing but accept, of the built-in model in which that is a choice' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l family -d 'Address family on which they listen: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]' -r -f -a "ipv4\t''
ipv6\t''
unix\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l net -d 'Their network and the generator\'s: a private one with its own settings and counters, or the host\'s [default: private]' -r -f -a "private\t''
host\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l kernel -d 'Kernel setting of the private network, such as somaxconn=16,4096; the host\'s is left as it is. A value that holds a comma itself is for plan files. Repeatable' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l ready-timeout -d 'How long one may take to listen [default: 10s]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l catalogue -d 'Folder of the catalogue, for servers of your own: LANGUAGE/SERVER/server.toml [default: throng\'s own]' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand churn" -l patience -d 'How long trials that were disturbed are made again at the end; 0 for never [default: as long as the plan is estimated to take]' -r
complete -c throng -n "__fish_throng_using_subcommand churn" -l format -d 'Form of the report' -r -f -a "terminal\t''
markdown\t''
csv\t''
json\t''"
complete -c throng -n "__fish_throng_using_subcommand churn" -l output -d 'File for the report; standard output where absent' -r -F
complete -c throng -n "__fish_throng_using_subcommand churn" -l runs-dir -d 'Folder in which runs are kept, each in a folder of its own' -r -f -a "(__fish_complete_directories)"
complete -c throng -n "__fish_throng_using_subcommand churn" -l observe -d 'Observe the accept queue and the handshakes, which the churn experiment leaves out since it costs CPU time'
complete -c throng -n "__fish_throng_using_subcommand churn" -l no-spin -d 'Sleep until a message is due rather than spin for the last microseconds: frees a core, errs by up to 75 µs'
complete -c throng -n "__fish_throng_using_subcommand churn" -l no-verify -d 'Do not compare the returned bytes with the expected ones'
complete -c throng -n "__fish_throng_using_subcommand churn" -l quick -d 'The short form: fewer and shorter trials, two minutes at most'
complete -c throng -n "__fish_throng_using_subcommand churn" -l strict -d 'Take disturbed trials (stolen CPU time, other programs, drift) for invalid ones, as a CI on a machine of its own may want'
complete -c throng -n "__fish_throng_using_subcommand churn" -l full -d 'In the terminal every table, cause and remedy, and how to read them, rather than what fits a screen'
complete -c throng -n "__fish_throng_using_subcommand churn" -s h -l help -d 'Print help'

%% A process for each connection, which waits for its own client and nobody else.
%% Processes are the runtime's, not the kernel's: its schedulers, one for each
%% core, share them. Sockets are passive, so that a client is read from when its
%% process has nothing else to do; for a broadcast they are active once, because
%% a process then waits for two things, its client and the room.
%% Left out on purpose: supervisors, for nothing here is worth a restart.
-module(server).
-behaviour(gen_event).

-export([start/0]).
-export([init/1, handle_call/2, handle_event/2]).

%% What is kept for a client that does not read a broadcast, and of a line.
-define(KEPT_AT_MOST, 1048576).
%% What is dropped, and how long is waited for more, behind a frame that is refused.
-define(DROPPED_AT_MOST, 1048576).
-define(DROPPING_MS, 1000).
-define(FRAME_AT_MOST, 65536).
-define(DAY_MS, 86400000).
-define(IS_NATURAL(Number), is_integer(Number), Number >= 0, Number < 1 bsl 64).

start() ->
    Options = parse_options(init:get_plain_arguments(), #{listen => []}),
    Workload = serve_function(Options),
    Listeners = [listen(Address, Options) || Address <- maps:get(listen, Options)],
    ok = gen_event:swap_handler(
        erl_signal_server, {erl_signal_handler, []}, {?MODULE, Listeners}
    ),
    [spawn_link(fun() -> accept(Socket, Workload) end) || {_, Socket} <- Listeners],
    [io:format("ready ~s~n", [name(Listener)]) || Listener <- Listeners],
    %% The listeners belong to this process, and would be closed with it.
    timer:sleep(infinity).

%% Listening and accepting

listen(Address, #{backlog := Backlog}) ->
    {Port, Place} =
        case Address of
            {unix, Path} -> {0, [{ifaddr, {local, Path}}]};
            {{_, _, _, _} = Ip, Number} -> {Number, [inet, {ip, Ip}, {nodelay, true}]};
            {Ip, Number} -> {Number, [inet6, {ip, Ip}, {nodelay, true}]}
        end,
    Common = [
        binary,
        {active, false},
        {reuseaddr, true},
        {backlog, Backlog},
        %% The end of input is not the end of output.
        {exit_on_close, false}
    ],
    case gen_tcp:listen(Port, Place ++ Common) of
        {ok, Socket} -> {Address, Socket};
        {error, Reason} -> stop(1, "cannot listen: ~s", [inet:format_error(Reason)])
    end.

name({{unix, Path}, _Socket}) ->
    ["unix:", Path];
name({_Address, Socket}) ->
    {ok, {Ip, Port}} = inet:sockname(Socket),
    Host =
        case tuple_size(Ip) of
            4 -> inet:ntoa(Ip);
            8 -> ["[", inet:ntoa(Ip), "]"]
        end,
    io_lib:format("~s:~b", [Host, Port]).

%% The process that accepts gives the socket away; the new owner must not touch
%% it before.
accept(Listener, Serve) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            Pid = spawn(fun() ->
                receive
                    yours -> Serve(Socket)
                end
            end),
            case gen_tcp:controlling_process(Socket, Pid) of
                ok -> Pid ! yours;
                {error, _} -> exit(Pid, kill)
            end;
        {error, _} ->
            %% It has gone already, or no descriptors are left.
            timer:sleep(5)
    end,
    accept(Listener, Serve).

serve_function(#{workload := "echo"}) ->
    fun echo/1;
serve_function(#{workload := "broadcast"}) ->
    Room = spawn_link(fun() -> room(#{}) end),
    fun(Socket) -> join(Socket, Room) end;
serve_function(#{workload := "http", delay := Delay}) ->
    fun(Socket) ->
        %% The runtime itself understands lines of HTTP.
        ok = inet:setopts(Socket, [{packet, http_bin}]),
        http(Socket, Delay)
    end;
serve_function(#{workload := "oneshot", delay := Delay}) ->
    fun(Socket) -> oneshot(Socket, Delay) end;
serve_function(#{workload := "framed"}) ->
    %% Now rather than at the first request; and without it there is no use in starting.
    {module, jiffy} = code:ensure_loaded(jiffy),
    fun(Socket) ->
        %% The runtime itself cuts frames, and puts the length before those that are sent.
        ok = inet:setopts(Socket, [{packet, 4}, {packet_size, ?FRAME_AT_MOST}]),
        framed(Socket)
    end.

%% echo

echo(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Bytes} ->
            case gen_tcp:send(Socket, Bytes) of
                ok -> echo(Socket);
                {error, _} -> gen_tcp:close(Socket)
            end;
        {error, _} ->
            leave(Socket)
    end.

%% Ends the output once everything has gone out, and closes.
leave(Socket) ->
    gen_tcp:shutdown(Socket, write),
    gen_tcp:close(Socket).

%% oneshot

oneshot(Socket, Delay) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, _} ->
            timer:sleep(Delay),
            gen_tcp:send(Socket, <<"HTTP/1.1 200 OK\r\n\r\nok\r\n">>);
        {error, _} ->
            ok
    end,
    gen_tcp:close(Socket).

%% broadcast: a room knows all members, and hands each line to their processes.

room(Members) ->
    receive
        {join, Pid, Kept} ->
            monitor(process, Pid),
            Pid ! welcome,
            room(Members#{Pid => Kept});
        {say, Lines} ->
            Size = byte_size(Lines),
            maps:foreach(fun(Pid, Kept) -> hand(Pid, Kept, Lines, Size) end, Members),
            room(Members);
        {'DOWN', _, process, Pid, _} ->
            room(maps:remove(Pid, Members))
    end.

%% A mailbox has no bound. What lies in it is counted, therefore, by the room that
%% fills it and the member that empties it.
hand(Pid, Kept, Lines, Size) ->
    case atomics:add_get(Kept, 1, Size) of
        Total when Total > ?KEPT_AT_MOST -> exit(Pid, kill);
        _ -> Pid ! {said, Lines}
    end.

join(Socket, Room) ->
    Kept = atomics:new(1, []),
    Room ! {join, self(), Kept},
    receive
        welcome -> ok
    end,
    gen_tcp:send(Socket, <<"connected\n">>),
    inet:setopts(Socket, [{active, once}]),
    member(Socket, Room, Kept, <<>>).

member(Socket, Room, Kept, Unfinished) ->
    receive
        {said, Lines} ->
            deliver(Socket, Kept, Lines),
            member(Socket, Room, Kept, Unfinished);
        {tcp, Socket, Bytes} ->
            Rest = say_lines(Room, <<Unfinished/binary, Bytes/binary>>, byte_size(Unfinished)),
            inet:setopts(Socket, [{active, once}]),
            member(Socket, Room, Kept, Rest);
        {tcp_closed, Socket} ->
            gen_tcp:close(Socket);
        {tcp_error, Socket, _} ->
            gen_tcp:close(Socket)
    end.

%% Everything that waits goes out in one piece.
deliver(Socket, Kept, Lines) ->
    All = [Lines | waiting()],
    gen_tcp:send(Socket, All),
    atomics:sub(Kept, 1, iolist_size(All)).

waiting() ->
    receive
        {said, Lines} -> [Lines | waiting()]
    after 0 -> []
    end.

%% Returns what has not ended yet. There is no end before the fresh bytes.
say_lines(Room, Bytes, Known) ->
    Fresh = {Known, byte_size(Bytes) - Known},
    case binary:matches(Bytes, <<"\n">>, [{scope, Fresh}]) of
        [] when byte_size(Bytes) > ?KEPT_AT_MOST ->
            exit(line_too_long);
        [] ->
            Bytes;
        Ends ->
            {Last, 1} = lists:last(Ends),
            <<Lines:(Last + 1)/binary, Rest/binary>> = Bytes,
            Room ! {say, Lines},
            Rest
    end.

%% http

http(Socket, Delay) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_request, 'GET', {abs_path, Target}, Version}} when
            Version =:= {1, 1}; Version =:= {1, 0}
        ->
            case parse_query(Target, Delay) of
                {ok, Wait, Count} -> headers(Socket, Delay, Wait, Count, Version =:= {1, 1});
                malformed -> bad_request(Socket)
            end;
        {ok, _} ->
            bad_request(Socket);
        {error, closed} ->
            leave(Socket);
        {error, _} ->
            bad_request(Socket)
    end.

headers(Socket, Delay, Wait, Count, KeepAlive) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_header, _, <<>>, _, _}} ->
            bad_request(Socket);
        {ok, {http_header, _, 'Connection', _, Value}} ->
            headers(Socket, Delay, Wait, Count, keep_alive(Value, KeepAlive));
        {ok, {http_header, _, _, _, _}} ->
            headers(Socket, Delay, Wait, Count, KeepAlive);
        {ok, http_eoh} ->
            timer:sleep(Wait),
            count_to(Count),
            answer(Socket, Delay, KeepAlive);
        {error, closed} ->
            gen_tcp:close(Socket);
        _ ->
            bad_request(Socket)
    end.

keep_alive(Value, Otherwise) ->
    Words = string:lexemes(string:lowercase(Value), ", \t"),
    case {lists:member(<<"close">>, Words), lists:member(<<"keep-alive">>, Words)} of
        {true, _} -> false;
        {false, true} -> true;
        _ -> Otherwise
    end.

answer(Socket, Delay, true) ->
    case gen_tcp:send(Socket, response("200 OK", "keep-alive", "ok")) of
        ok -> http(Socket, Delay);
        {error, _} -> gen_tcp:close(Socket)
    end;
answer(Socket, _Delay, false) ->
    gen_tcp:send(Socket, response("200 OK", "close", "ok")),
    leave(Socket).

bad_request(Socket) ->
    gen_tcp:send(Socket, response("400 Bad Request", "close", "")),
    leave(Socket).

response(Status, Connection, Body) ->
    [
        "HTTP/1.1 ", Status, "\r\nContent-Type: text/plain\r\n",
        "Content-Length: ", integer_to_list(length(Body)), "\r\n",
        "Connection: ", Connection, "\r\n\r\n", Body
    ].

parse_query(Target, Delay) ->
    Query =
        case binary:split(Target, <<"?">>) of
            [_, After] -> binary:split(After, <<"&">>, [global]);
            [_] -> []
        end,
    try lists:foldl(fun parse_word/2, {Delay, 0}, Query) of
        {Wait, Count} -> {ok, Wait, Count}
    catch
        error:badarg -> malformed
    end.

parse_word(<<"delay=", Text/binary>>, {_, Count}) ->
    {parse_delay(binary_to_list(Text)), Count};
parse_word(<<"count=", Text/binary>>, {Wait, _}) ->
    {Wait, parse_natural(binary_to_list(Text))};
parse_word(_, Work) ->
    Work.

%% framed

framed(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Frame} ->
            case gen_tcp:send(Socket, framed_answer(Frame)) of
                ok -> framed(Socket);
                {error, _} -> gen_tcp:close(Socket)
            end;
        {error, emsgsize} ->
            %% Said as soon as the length has come; the socket is as usable as before.
            gen_tcp:send(Socket, reply(400, <<"the frame is too long">>)),
            refuse(Socket);
        {error, _} ->
            leave(Socket)
    end.

framed_answer(Frame) ->
    try jiffy:decode(Frame, [return_maps]) of
        #{<<"count">> := Count} when ?IS_NATURAL(Count) ->
            count_to(Count),
            reply(200, <<"ok">>);
        #{<<"count">> := _} ->
            reply(400, <<"count is a whole number from 0">>);
        #{} ->
            reply(200, <<"ok">>);
        _ ->
            reply(400, <<"a request is an object">>)
    catch
        error:_ -> reply(400, <<"this is no JSON">>)
    end.

reply(Code, Msg) ->
    jiffy:encode(#{code => Code, msg => Msg}).

%% Closing while input is unread would reset the connection, and the kernel may then
%% drop the answer. So the output ends first, and what still comes is dropped.
refuse(Socket) ->
    gen_tcp:shutdown(Socket, write),
    inet:setopts(Socket, [{packet, raw}]),
    drop(Socket, ?DROPPED_AT_MOST).

drop(Socket, Left) when Left > 0 ->
    case gen_tcp:recv(Socket, 0, ?DROPPING_MS) of
        {ok, Bytes} -> drop(Socket, Left - byte_size(Bytes));
        {error, _} -> gen_tcp:close(Socket)
    end;
drop(Socket, _) ->
    gen_tcp:close(Socket).

%% A call of itself for each number; the compiler leaves it as it stands.
count_to(0) -> ok;
count_to(Number) -> count_to(Number - 1).

%% Numbers; what is none is a badarg.

parse_natural(Text) ->
    case list_to_integer(Text) of
        Number when ?IS_NATURAL(Number) -> Number;
        _ -> error(badarg)
    end.

%% Timers count in whole milliseconds: rather a little more than too few.
parse_delay(Text) ->
    Number =
        case lists:member($., Text) of
            true -> list_to_float(Text);
            false -> list_to_integer(Text)
        end,
    if
        Number >= 0, Number =< ?DAY_MS -> ceil(Number);
        true -> error(badarg)
    end.

%% Flags

parse_options([], Options) ->
    case Options of
        #{listen := []} -> stop(2, "--listen must be given", []);
        #{workload := _} -> maps:merge(#{backlog => 1024, delay => 0}, Options);
        _ -> stop(2, "--workload must be given", [])
    end;
parse_options([Flag, Value | Rest], Options) ->
    try parse_option(Flag, Value, Options) of
        More -> parse_options(Rest, More)
    catch
        error:_ -> stop(2, "~ts: '~ts' is no value for it", [Flag, Value])
    end;
parse_options([Flag], _) ->
    stop(2, "~ts: a value is missing", [Flag]).

parse_option("--listen", Text, #{listen := Addresses} = Options) ->
    Options#{listen := Addresses ++ [parse_address(Text)]};
parse_option("--workload", Name, Options) ->
    true = lists:member(Name, ["echo", "broadcast", "http", "oneshot", "framed"]),
    Options#{workload => Name};
parse_option("--backlog", Text, Options) ->
    Options#{backlog => parse_natural(Text)};
parse_option("--delay-ms", Text, Options) ->
    Options#{delay => parse_delay(Text)};
parse_option(Flag, _, _) ->
    stop(2, "~ts: there is no such flag", [Flag]).

parse_address("unix:" ++ [_ | _] = Text) ->
    "unix:" ++ Path = Text,
    {unix, Path};
parse_address(Text) ->
    [Host, Port] = string:split(Text, ":", trailing),
    {ok, Ip} = inet:parse_strict_address(string:trim(Host, both, "[]")),
    Number = parse_natural(Port),
    true = Number =< 65535,
    {Ip, Number}.

stop(Status, Format, Values) ->
    io:format(standard_error, Format ++ "~n", Values),
    halt(Status).

%% The runtime tells of SIGTERM by an event. Its own answer would be to stop each
%% application in turn, which takes a second.

init({Listeners, _}) ->
    {ok, Listeners}.

handle_event(sigterm, Listeners) ->
    [file:delete(Path) || {{unix, Path}, _} <- Listeners],
    halt(0, [{flush, false}]),
    {ok, Listeners};
handle_event(_, Listeners) ->
    {ok, Listeners}.

handle_call(_, Listeners) ->
    {ok, ok, Listeners}.

{-# LANGUAGE OverloadedStrings #-}

-- | A light thread for each connection ('forkIO'), which blocks in reading and
-- writing as it pleases: the runtime waits for readiness on behalf of all of
-- them, and runs them on as many threads as it was told (GHCRTS=-N). A broadcast
-- has a second light thread for each connection, which writes what the others
-- have said, so that a client that does not read delays nobody else.
-- Left out on purpose: asking the clients to leave before the server ends.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Aeson (FromJSON (..), eitherDecodeStrict', encode, object, withObject, (.!=), (.:!), (.=))
import qualified Data.Binary as Binary
import qualified Data.ByteString.Char8 as B
import qualified Data.ByteString.Lazy as L
import Data.Char (isDigit, isSpace, toLower)
import Data.List (stripPrefix)
import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe, listToMaybe)
import Data.Word (Word16, Word32, Word64)
import Network.Socket hiding (Broadcast)
import Network.Socket.ByteString (recv, sendAll)
import qualified Network.Socket.ByteString.Lazy as Lazy
import System.Directory (removeFile)
import System.Environment (getArgs)
import System.Exit
import System.IO
import System.Posix.Signals (Handler (Catch), installHandler, sigTERM)
import System.Timeout (timeout)
import Text.Read (readMaybe)

-- | What is kept for a client that does not read a broadcast, and of a line.
keptAtMost :: Int
keptAtMost = 1024 * 1024

-- | What is read at a time.
pieceSize :: Int
pieceSize = 4096

main :: IO ()
main = do
  options <- parseOptions =<< getArgs
  serve <- workloadOf options
  ended <- newEmptyMVar
  _ <- installHandler sigTERM (Catch (putMVar ended ())) Nothing
  listeners <- mapM (openListener (backlog options)) (listenOn options) `catch` cannotListen
  mapM_ (\listener -> forkIO (acceptEach listener serve)) listeners
  mapM_ (announce <=< getSocketName) listeners
  takeMVar ended
  sequence_ [removeFile path | SockAddrUnix path <- listenOn options]
  where
    cannotListen :: IOException -> IO a
    cannotListen reason = hPutStrLn stderr ("cannot listen: " <> show reason) >> exitFailure

-- Listening

openListener :: Int -> SockAddr -> IO Socket
openListener queue address = do
  listener <- socket (familyOf address) Stream defaultProtocol
  setSocketOption listener ReuseAddr 1
  bind listener address
  listen listener queue
  pure listener

familyOf :: SockAddr -> Family
familyOf SockAddrInet {} = AF_INET
familyOf SockAddrInet6 {} = AF_INET6
familyOf SockAddrUnix {} = AF_UNIX

announce :: SockAddr -> IO ()
announce address = putStrLn ("ready " <> name) >> hFlush stdout
  where
    name = case address of
      SockAddrUnix path -> "unix:" <> path
      _ -> show address

acceptEach :: Socket -> (Socket -> IO ()) -> IO ()
acceptEach listener serve = forever (acceptOne `catch` wait)
  where
    acceptOne = mask_ $ do
      (client, address) <- accept listener
      unless (isUnix address) (setSocketOption client NoDelay 1 `catch` ignored)
      void (forkIOWithUnmask (\unmask -> unmask (serve client) `catch` ignored `finally` close client))
    isUnix address = familyOf address == AF_UNIX
    -- It has gone already, or no descriptors are left.
    wait :: IOException -> IO ()
    wait _ = threadDelay 5000

-- | That a client leaves in the middle is nothing to report.
ignored :: IOException -> IO ()
ignored _ = pure ()

workloadOf :: Options -> IO (Socket -> IO ())
workloadOf options = case workload options of
  Echo -> pure echo
  Broadcast -> flip member <$> newTVarIO Map.empty
  Http -> pure (\client -> http client (delay options) B.empty)
  Oneshot -> pure (`oneshot` delay options)
  Framed -> pure (`framed` B.empty)

-- | Lets the client read why it is refused. A socket that is closed with unread
-- input resets its connection, and a reset destroys what the client has not read
-- yet. So only the output ends, and what still comes is dropped: for a second,
-- and a mebibyte of it.
linger :: Socket -> IO ()
linger client = shutdown client ShutdownSend >> void (timeout 1000000 (dropUpTo (1024 * 1024)))
  where
    dropUpTo :: Int -> IO ()
    dropUpTo left = when (left > 0) $ do
      size <- B.length <$> recv client pieceSize
      unless (size == 0) $ dropUpTo (left - size)

-- Echo and oneshot

echo :: Socket -> IO ()
echo client = do
  bytes <- recv client pieceSize
  unless (B.null bytes) $ sendAll client bytes >> echo client

oneshot :: Socket -> Microseconds -> IO ()
oneshot client wait = do
  bytes <- recv client pieceSize
  unless (B.null bytes) $ do
    threadDelay wait
    sendAll client "HTTP/1.1 200 OK\r\n\r\nok\r\n"

-- Broadcast

-- | What is to be sent to a member, the newest first, and how many bytes it is;
-- those that are being sent count until they have gone.
data Mailbox = Mailbox {waiting :: TVar [B.ByteString], kept :: TVar Int}

type Room = TVar (Map.Map ThreadId Mailbox)

-- | Reads in this thread and writes in another. Whichever ends ends the other.
-- The greeting lies in the mailbox before the room knows it: it comes first, and
-- whoever has read it hears all that is said from then on.
member :: Socket -> Room -> IO ()
member client room = do
  mailbox <- Mailbox <$> newTVarIO [greeting] <*> newTVarIO (B.length greeting)
  reader <- myThreadId
  bracket_
    (atomically (modifyTVar' room (Map.insert reader mailbox)))
    (atomically (modifyTVar' room (Map.delete reader)))
    $ bracket
      (forkIO (writeFrom mailbox client `catch` ignored `finally` killThread reader))
      killThread
      (\_ -> relayLines client room B.empty)
  where
    greeting = "connected\n"

writeFrom :: Mailbox -> Socket -> IO ()
writeFrom mailbox client = forever $ do
  messages <- atomically $ do
    messages <- swapTVar (waiting mailbox) []
    messages <$ check (not (null messages))
  let bytes = L.fromChunks (reverse messages)
  Lazy.sendAll client bytes
  atomically (modifyTVar' (kept mailbox) (subtract (fromIntegral (L.length bytes))))

relayLines :: Socket -> Room -> B.ByteString -> IO ()
relayLines client room unfinished = do
  bytes <- recv client pieceSize
  let (finished, rest) = B.breakEnd (== '\n') bytes
  unless (B.null bytes) $
    if B.null finished
      then keepLine (unfinished <> rest)
      else say room (unfinished <> finished) >> keepLine (B.copy rest)
  where
    keepLine line = when (B.length line <= keptAtMost) (relayLines client room line)

say :: Room -> B.ByteString -> IO ()
say room message = readTVarIO room >>= mapM_ put . Map.toList
  where
    size = B.length message
    -- Each mailbox by itself: all at once would be one transaction that every
    -- writer disturbs.
    put (reader, mailbox) = do
      tooFar <- atomically $ do
        total <- (+ size) <$> readTVar (kept mailbox)
        if total > keptAtMost
          then pure True
          else do
            writeTVar (kept mailbox) total
            modifyTVar' (waiting mailbox) (message :)
            pure False
      when tooFar (void (forkIO (killThread reader)))

-- HTTP

data Request = Request {pause :: Microseconds, count :: Word64, keepAlive :: Bool}

data Parsed = Incomplete | Malformed | Complete Request B.ByteString

http :: Socket -> Microseconds -> B.ByteString -> IO ()
http client usual input = case parseRequest usual input of
  Incomplete -> do
    bytes <- recv client pieceSize
    unless (B.null bytes) $ http client usual (input <> bytes)
  Malformed -> do
    sendAll client "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    linger client
  Complete request rest -> do
    when (pause request > 0) $ threadDelay (pause request)
    countTo (count request)
    sendAll client (answer (keepAlive request))
    when (keepAlive request) $ http client usual rest

answer :: Bool -> B.ByteString
answer True = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"
answer False = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

-- | In steps that GHC cannot see through.
countTo :: Word64 -> IO ()
countTo limit = go 0
  where
    go number = when (number < limit) $ go (successor number)

successor :: Word64 -> Word64
successor number = number + 1
{-# NOINLINE successor #-}

parseRequest :: Microseconds -> B.ByteString -> Parsed
parseRequest usual input = case nextLine input of
  Just (line, rest) -> maybe Malformed (parseHeaders rest) (parseRequestLine usual line)
  Nothing -> unlessTooLong input

parseHeaders :: B.ByteString -> Request -> Parsed
parseHeaders input request = case nextLine input of
  Just (line, rest)
    | B.null line -> Complete request rest
    | otherwise -> maybe Malformed (parseHeaders rest) (parseHeader line request)
  Nothing -> unlessTooLong input

unlessTooLong :: B.ByteString -> Parsed
unlessTooLong input = if B.length input > 16 * 1024 then Malformed else Incomplete

nextLine :: B.ByteString -> Maybe (B.ByteString, B.ByteString)
nextLine input = case B.break (== '\n') input of
  (_, "") -> Nothing
  (line, rest) -> Just (fromMaybe line (B.stripSuffix "\r" line), B.drop 1 rest)

parseRequestLine :: Microseconds -> B.ByteString -> Maybe Request
parseRequestLine usual line = case B.split ' ' line of
  ["GET", target, version]
    | B.null target -> Nothing
    | version == "HTTP/1.1" -> work target (Request usual 0 True)
    | version == "HTTP/1.0" -> work target (Request usual 0 False)
  _ -> Nothing
  where
    work target request =
      foldM parseWord request (B.split '&' (B.drop 1 (B.dropWhile (/= '?') target)))

parseWord :: Request -> B.ByteString -> Maybe Request
parseWord request word = case B.break (== '=') word of
  ("delay", text) -> (\value -> request {pause = value}) <$> parseDelay (B.unpack (B.drop 1 text))
  ("count", text) -> (\value -> request {count = value}) <$> parseNatural (B.unpack (B.drop 1 text))
  _ -> Just request

parseHeader :: B.ByteString -> Request -> Maybe Request
parseHeader line request
  | B.null name || B.null colon || B.any isSpace name = Nothing
  | B.map toLower name /= "connection" = Just request
  | "close" `elem` options = Just request {keepAlive = False}
  | "keep-alive" `elem` options = Just request {keepAlive = True}
  | otherwise = Just request
  where
    (name, colon) = B.break (== ':') line
    options = map B.strip (B.split ',' (B.map toLower (B.drop 1 colon)))

-- Frames

-- | The longest that is served, without its length.
longestFrame :: Word32
longestFrame = 64 * 1024

-- | What is asked for in a frame.
newtype Counting = Counting Word64

instance FromJSON Counting where
  -- That it is null is not the same as that it is absent.
  parseJSON = withObject "a request" $ \fields -> Counting <$> fields .:! "count" .!= 0

data Frame = Partial | TooLong | Whole B.ByteString B.ByteString

framed :: Socket -> B.ByteString -> IO ()
framed client input = case nextFrame input of
  Partial -> do
    bytes <- recv client pieceSize
    unless (B.null bytes) $ framed client (input <> bytes)
  TooLong -> reply client 400 "the frame is too long" >> linger client
  Whole text rest -> do
    case eitherDecodeStrict' text of
      Left why -> reply client 400 why
      Right (Counting limit) -> countTo limit >> reply client 200 "ok"
    framed client rest

nextFrame :: B.ByteString -> Frame
nextFrame input
  | B.length prefix < 4 = Partial
  | size > longestFrame = TooLong
  | B.length rest < fromIntegral size = Partial
  | otherwise = uncurry Whole (B.splitAt (fromIntegral size) rest)
  where
    (prefix, rest) = B.splitAt 4 input
    size = Binary.decode (L.fromStrict prefix)

reply :: Socket -> Int -> String -> IO ()
reply client code msg = Lazy.sendAll client (Binary.encode size <> text)
  where
    text = encode (object ["code" .= code, "msg" .= msg])
    size = fromIntegral (L.length text) :: Word32

-- Flags

type Microseconds = Int

data Workload = Echo | Broadcast | Http | Oneshot | Framed

data Options = Options
  { listenOn :: [SockAddr],
    workload :: Workload,
    backlog :: Int,
    delay :: Microseconds
  }

parseOptions :: [String] -> IO Options
parseOptions = go (Options [] Echo 1024 0) False
  where
    go options chosen (flag : value : rest) = case flag of
      "--listen" -> do
        address <- parseAddress value
        use address (\a -> go options {listenOn = listenOn options <> [a]} chosen rest)
      "--workload" -> use (parseWorkload value) (\w -> go options {workload = w} True rest)
      "--backlog" -> use (parseNatural value) (\n -> go options {backlog = n} chosen rest)
      "--delay-ms" -> use (parseDelay value) (\n -> go options {delay = n} chosen rest)
      _ -> refuse (flag <> ": there is no such flag")
      where
        use parsed next = maybe bad next parsed
        bad = refuse (flag <> ": '" <> value <> "' is no value for it")
    go _ _ [flag] = refuse (flag <> ": a value is missing, or there is no such flag")
    go options chosen []
      | null (listenOn options) = refuse "--listen must be given"
      | not chosen = refuse "--workload must be given"
      | otherwise = pure options

refuse :: String -> IO a
refuse why = hPutStrLn stderr why >> exitWith (ExitFailure 2)

parseWorkload :: String -> Maybe Workload
parseWorkload name =
  lookup name [("echo", Echo), ("broadcast", Broadcast), ("http", Http), ("oneshot", Oneshot), ("framed", Framed)]

-- | Digits that fit, and nothing else.
parseNatural :: (Bounded a, Integral a) => String -> Maybe a
parseNatural text = do
  guard (not (null text) && all isDigit text && length text < 20)
  let number = read text :: Integer
      fitting = fromInteger number
  fitting <$ guard (number <= toInteger (maxBound `asTypeOf` fitting))

-- | Milliseconds, with decimals, and no more than a day of them.
parseDelay :: String -> Maybe Microseconds
parseDelay text = do
  guard (all (\c -> isDigit c || c == '.') text)
  milliseconds <- readMaybe (if '.' `elem` text then text else text <> ".0") :: Maybe Double
  ceiling (milliseconds * 1000) <$ guard (milliseconds <= 24 * 60 * 60 * 1000)

parseAddress :: String -> IO (Maybe SockAddr)
parseAddress text
  | Just path <- stripPrefix "unix:" text = pure (SockAddrUnix path <$ guard (not (null path)))
  | null host || (parseNatural port :: Maybe Word16) == Nothing = pure Nothing
  | otherwise =
    (fmap addrAddress . listToMaybe <$> getAddrInfo (Just hints) (Just host) (Just port))
      `catch` \reason -> const (pure Nothing) (reason :: IOException)
  where
    (trop, tsoh) = break (== ':') (reverse text)
    port = reverse trop
    host = unbracketed (reverse (drop 1 tsoh))
    hints = defaultHints {addrFlags = [AI_NUMERICHOST, AI_NUMERICSERV], addrSocketType = Stream}
    unbracketed = filter (`notElem` ("[]" :: String))

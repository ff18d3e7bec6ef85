# What the scenes have besides the command line.

# rest METHOD PATH [BODY]: the answer's body on stdout, its status on stderr.
rest() {
  if [ $# -gt 2 ]; then set -- "$1" "$2" -H 'content-type: application/json' -d "$3"; fi
  method=$1 path=$2
  shift 2
  curl -s -X "$method" -w '%{stderr}status %{http_code}\n' "$@" "$URL$path"
}

# rpc METHOD [PARAMETERS]: a message to the MCP server.
rpc() {
  curl -s -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":${2-{\}}}" "$URL/mcp"
}

# tool NAME [ARGUMENTS]
tool() { rpc tools/call "{\"name\":\"$1\",\"arguments\":${2-{\}}}"; }

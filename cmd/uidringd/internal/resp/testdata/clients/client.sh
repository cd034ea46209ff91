# A process for each call. See scripts_test.go.
timeout=$1 token=$2
shift 2
[ -z "$token" ] || export REDISCLI_AUTH="$token"

redis() {
	case $1 in
	/*) timeout "$timeout" redis-cli -s "$@" ;;
	*) server=$1; shift; timeout "$timeout" redis-cli -h "${server%:*}" -p "${server#*:}" "$@" ;;
	esac
}

while read -r command name n; do
	ids='' error=''
	for _ in "$@" again; do
		[ "$n" -gt 0 ] || break
		case $command in
		incr | pipeline) out=$(redis "$1" -r "$n" INCR "$name" 2>&1) ;;
		get) out=$(redis "$1" -r "$n" GET "$name" 2>&1) ;;
		incrby) out=$(redis "$1" INCRBY "$name" "$n" 2>&1) ;;
		esac || out="$out
no answer"
		got=$(echo "$out" | grep '^[0-9][0-9]*$')
		ids="$ids $got"
		error=$(echo "$out" | grep -v '^[0-9][0-9]*$')
		[ -n "$error" ] || break
		n=$((n - $(echo "$got" | wc -w)))
		server=$1
		shift
		set -- "$@" "$server"
	done
	# shellcheck disable=SC2086 # blanks replace the ends of lines
	echo $ids ${error:+error $error}
done

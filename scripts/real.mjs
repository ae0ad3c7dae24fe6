// `npm run real [-- --yes] [--no-measure]`: a studio with a cluster of vLLM on the cores of this computer, measured before it starts.
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { installVllm, isVllmThere, vllmProgram, vllmVersion } from "./installVllm.mjs";
import { launchStudio, stateFolder } from "./launchStudio.mjs";
import { refuse, root, runLoud } from "./prepare.mjs";

const noMeasure = "--no-measure";
const known = ["--yes", noMeasure];
const unknown = process.argv.slice(2).find((argument) => !known.includes(argument));
if (unknown !== undefined) refuse(`There is no option "${unknown}": known are ${known.join(" and ")}.`, 2);

const own = process.env.WEIR_VLLM;
const folder = resolve(own ?? join(stateFolder(), "vllm"));
if (own !== undefined && !isVllmThere(folder)) refuse(`WEIR_VLLM is ${folder}, and there is no ${vllmProgram(folder)}.`);
if (!isVllmThere(folder)) {
  process.stderr.write(
    [
      "This runs two small language models, trained on arithmetic, in vLLM on the cores of this computer.",
      `It installs vLLM ${vllmVersion} for processors into ${folder}: 6 GB, about 10 minutes.`,
      "Then it measures vLLM with both models, about 8 minutes; --no-measure leaves that out.",
      "Delete that folder to uninstall it. An environment that has vLLM already can be named in WEIR_VLLM.",
      "",
    ].join("\n"),
  );
  if (!process.argv.includes("--yes")) await confirm();
  installVllm(folder);
}

await launchStudio({
  clusterLines: [
    "embedded and emulated, and vLLM on this computer:",
    "make a plan for that one and apply it; the plan starts the engines,",
    "each of which takes two minutes to load and 2 GB of memory",
  ],
  endLine: "Ctrl-C ends the studio. Engines of vLLM run on: stop them under Apply first.",
  async beforeStart(stateDir) {
    const flags = process.argv.includes(noMeasure) ? [noMeasure] : [];
    const attach = [join(root, "dist", "realCluster.mjs"), vllmProgram(folder), stateDir, ...flags];
    if (runLoud(process.execPath, attach, { WEIR_ROOT: root }) !== 0) refuse("The cluster was not made; the reason stands above.");
  },
});

async function confirm() {
  if (!process.stdin.isTTY) refuse("Nobody can be asked here: add --yes, as in `npm run real -- --yes`.");
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question("Continue? [y/N] ");
  asking.close();
  if (!/^y(es)?$/i.test(answer.trim())) refuse("Nothing was installed.", 0);
}

import { cascadiaCases } from "./cases";
import { raceLadder } from "./race";
const [ladder] = cascadiaCases.ladders.slice(Number(process.argv[2]));
const begun = performance.now();
if (ladder) console.log(JSON.stringify(await raceLadder({ ...ladder, cases: ladder.cases.slice(0, 1) }, "perturbed", () => undefined), null, 1), performance.now() - begun);

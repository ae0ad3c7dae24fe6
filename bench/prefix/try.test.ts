import { it } from "vitest";
import { agentRuns } from "@/bench/lib/agentRuns";
import { placed, places, programsOf } from "@/bench/prefix/placementRun";
it("x", async () => {
const runs = await agentRuns();
const sample = programsOf(runs, { conversations: true }, 1);
for (const rate of [0.5, 1, 1.5]) for (const [name, place] of process.env.ALL ? places : places.slice(0,1)) console.log("W", process.env.W, rate, name, JSON.stringify(placed(sample, rate, place)));
}, 500000);

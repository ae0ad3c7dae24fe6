import { parentPort } from "node:worker_threads";
import { type AgentLine, agentLine, type LineAgent } from "@/solver/workflow/agentLine";

/** Entry of the thread in which agents are placed on their line: of thousands of them it takes longer than a request may wait. */
const port = parentPort;
if (port === null) throw new Error("Agents are placed in a worker thread only.");

port.on("message", (agents: readonly LineAgent[]) => {
  const line: AgentLine = agentLine(agents);
  port.postMessage(line);
});

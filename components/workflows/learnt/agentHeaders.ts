/** Headers by which a client identifies its calls, as shown to authors of applications. */
export const agentHeaders = [
  {
    name: "x-session-id",
    says: "The run of the application that the call belongs to. Default: the trace of a W3C traceparent, else each call is its own run.",
  },
  { name: "x-weir-agent", says: "The agent that calls. Default: x-weir-stage, else it is shown as unnamed." },
  {
    name: "x-weir-parents",
    says: "Agents whose answers it follows, separated by commas. Default: the agent that ended last before this call.",
  },
  { name: "x-weir-workflow", says: "Name of the application. Default: the agent that called first." },
  { name: "x-weir-started-at", says: "Start of the run, in Unix milliseconds. Default: its first call." },
] as const;

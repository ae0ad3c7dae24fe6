/** Headers by which a client says what a call belongs to, as authors of applications are told of them. */
export const agentHeaders = [
  {
    name: "x-session-id",
    says: "Which run of the application the call belongs to. Left out: the trace of a W3C traceparent, else each call is one of its own.",
  },
  { name: "x-weir-agent", says: "Which agent calls. Left out: x-weir-stage, else it is shown as unnamed." },
  { name: "x-weir-upstream", says: "Agents whose answers it follows, split by commas. Left out: the one that ended last before it came." },
  { name: "x-weir-workflow", says: "What the application is called. Left out: as the agent that called first." },
  { name: "x-weir-start", says: "When the run began, in Unix milliseconds. Left out: with its first call." },
] as const;

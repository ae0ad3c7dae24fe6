import { z } from "zod";
import { appRouter } from "@/server/api/router";
import { uploadKinds } from "@/server/api/surveyUpload";
import { auditFilterSchema, auditFormats } from "@/server/contracts/studio/audit";
import type { Route } from "./openApi";

const id = "/{id}";

/** The studio's own route handlers. */
const handlers: readonly Route[] = [
  {
    method: "get",
    path: "/api/health",
    says: "The studio serves.",
    answer: z.object({ status: z.literal("ok") }),
    open: true,
    tag: "studio",
  },
  { method: "get", path: "/metrics", says: "Prometheus metrics of the studio.", text: "text/plain", open: true, tag: "studio" },
  { method: "get", path: "/docs/{path}", says: "A page of this documentation.", text: "text/html", open: true, tag: "studio" },
  {
    method: "post",
    path: "/api/sign-in",
    says: "Trades the token of a sign-in link for a session, once: a cookie, and the page token that every other call sends as `x-weir-page-token`.",
    body: z.object({ token: z.string() }),
    answer: z.object({ pageToken: z.string() }),
    open: true,
    tag: "studio",
  },
  {
    method: "get",
    path: "/api/sign-in/oidc",
    says: "Sends a browser to the OpenID provider, where one is configured.",
    text: "text/html",
    open: true,
    tag: "studio",
  },
  {
    method: "get",
    path: "/api/sign-in/oidc/callback",
    says: "Takes the provider's answer and sends the browser to the sign-in page, with a link or with a reason. The provider's redirect URI.",
    query: [
      { name: "state", in: "query", required: true, description: "As it was sent to the provider." },
      { name: "code", in: "query", required: false, description: "The provider's code; it sends `error` in its place." },
    ],
    text: "text/html",
    open: true,
    tag: "studio",
  },
  { method: "get", path: `/api/plans${id}`, says: "Downloads a plan.", answer: z.looseObject({}), tag: "studio" },
  { method: "get", path: `/api/workloads${id}`, says: "Downloads a workload as lines of JSON.", text: "application/jsonl", tag: "studio" },
  {
    method: "get",
    path: `/api/batches${id}/results`,
    says: "Downloads what a batch has decided, as lines of JSON.",
    text: "application/jsonl",
    tag: "studio",
  },
  {
    method: "get",
    path: "/api/audit/export",
    says: "Downloads lines of the audit in the order of its chain, as lines of JSON or CSV.",
    query: [
      { name: "format", in: "query", required: false, description: `One of ${auditFormats.join(", ")}; the first if it is left out.` },
      ...Object.keys(auditFilterSchema.shape).map(
        (name) => ({ name, in: "query", required: false, description: "As in `audit.page`." }) as const,
      ),
    ],
    text: "application/jsonl",
    tag: "studio",
  },
  {
    method: "get",
    path: "/api/keys/usage",
    says: "Downloads what requests with a gateway's keys used, by day, key and model, as CSV.",
    query: [
      { name: "clusterId", in: "query", required: true, description: "The cluster of the gateway." },
      { name: "from", in: "query", required: true, description: "The first day of UTC, such as 2026-01-01." },
      { name: "to", in: "query", required: true, description: "The last day." },
    ],
    text: "text/csv",
    tag: "studio",
  },
  {
    method: "post",
    path: "/api/uploads",
    says: `Takes one file and says what is in it. Kinds: ${uploadKinds.join(", ")}.`,
    query: [
      { name: "kind", in: "query", required: true, description: "What the file is." },
      { name: "name", in: "query", required: false, description: "Its name, for sentences about it." },
    ],
    bytes: true,
    answer: z.object({ uploadId: z.string(), survey: z.unknown() }),
    tag: "studio",
  },
];

interface Definition {
  readonly type: "query" | "mutation" | "subscription";
  readonly inputs: readonly unknown[];
}

/** Every procedure of the studio's tRPC API: queries and subscriptions by GET with `input` as JSON, mutations by POST. */
function procedures(): readonly Route[] {
  const all = appRouter._def.procedures as unknown as Readonly<Record<string, { readonly _def: Definition }>>;
  return Object.entries(all)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { _def }]) => {
      const { type, inputs } = _def;
      const input = inputs.find((one): one is z.ZodType => one instanceof z.ZodType);
      const common = { path: `/api/trpc/${name}`, says: `The ${type} \`${name}\`.`, tag: name.split(".")[0] ?? name };
      if (type === "mutation") return { ...common, method: "post", body: input, answer: z.looseObject({}) };
      return {
        ...common,
        method: "get",
        input,
        ...(type === "subscription" ? { text: "text/event-stream" } : { answer: z.looseObject({}) }),
      };
    });
}

/** Everything that the studio answers over HTTP in addition to its pages. */
export const studioRoutes = (): readonly Route[] => [...handlers, ...procedures()];

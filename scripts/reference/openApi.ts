import { z } from "zod";
import { gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { planSchema } from "@/solver/plan/plan";
import { policySchema } from "@/solver/plan/policySchema";
import { version } from "../../package.json";
import { jsonSchema } from "./schemas";

/** A route in the form of the document. Parts of a path in braces are text. */
export interface Route {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  readonly path: string;
  readonly says: string;
  readonly body?: z.ZodType | undefined;
  /** The body is bytes. */
  readonly bytes?: boolean;
  readonly answer?: z.ZodType | undefined;
  /** The media type of an answer that is not JSON. */
  readonly text?: string;
  /** The answer can be a stream of server-sent events. */
  readonly streams?: boolean;
  readonly query?: readonly {
    readonly name: string;
    readonly in: "query" | "header";
    readonly required: boolean;
    readonly description: string;
  }[];
  /** The parameter `input`, as JSON. */
  readonly input?: z.ZodType | undefined;
  /** Answered without the key, token or session that others need. */
  readonly open?: boolean;
  readonly tag?: string;
}

interface Api {
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Ways to authenticate: each with all of its schemes. */
  readonly security: readonly Readonly<Record<string, object>>[];
  readonly error: z.ZodType;
  readonly routes: readonly Route[];
}

/** Schemas that several routes share: each is once in a document. */
const shared = z.registry<{ readonly id: string }>();
shared.add(policySchema, { id: "Policy" });
shared.add(planSchema, { id: "Plan" });
shared.add(gatewayConfigSchema, { id: "GatewayConfig" });

/** The OpenAPI 3.1 document of an API. */
export function openApiDocument({ title, description, url, security, error, routes }: Api): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, object> = { Error: withoutDialect(jsonSchema(error)) };
  const described: Describe = (schema, io) => {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, unrepresentable: "any", metadata: shared });
    const suffix = io === "output" ? "Answer" : "";
    const hoisted = <Part>(part: Part): Part =>
      JSON.parse(JSON.stringify(part).replace(/"\$ref":"#\/\$defs\/(\w+)"/g, `"$ref":"#/components/schemas/$1${suffix}"`));
    for (const [name, definition] of Object.entries($defs)) schemas[`${name}${suffix}`] = hoisted(definition);
    return hoisted(own);
  };
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, { [route.method]: operation(route, described) });
  }
  return {
    openapi: "3.1.0",
    info: { title, description, version, license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" } },
    servers: [{ url }],
    security: security.map((way) => Object.fromEntries(Object.keys(way).map((name) => [name, []]))),
    paths,
    components: { securitySchemes: Object.assign({}, ...security), schemas },
  };
}

/** A schema in the form of the document. */
type Describe = (schema: z.ZodType, io: "input" | "output") => object;

function operation(route: Route, described: Describe): Record<string, unknown> {
  const { method, path, says, body, bytes, query = [], input, open, tag } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const parameters = [
    ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...query.map((one) => ({ ...one, schema: { type: "string" } })),
    ...(input === undefined ? [] : [inputParameter(input, described)]),
  ];
  const content = bytes
    ? { "application/octet-stream": {} }
    : body === undefined
      ? null
      : { "application/json": { schema: described(body, "input") } };
  return {
    summary: says,
    operationId: `${method}${path.replace(/[^A-Za-z]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === null ? {} : { requestBody: { required: true, content } }),
    responses: {
      "200": { description: "Done.", ...(answerContent(route, described) ?? {}) },
      default: { description: "Refused or failed.", content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } },
    },
  };
}

/** The input of a procedure that is called by GET. */
const inputParameter = (input: z.ZodType, described: Describe): object => ({
  name: "input",
  in: "query",
  required: !input.safeParse(undefined).success,
  content: { "application/json": { schema: described(input, "input") } },
});

function answerContent({ answer, text, streams }: Route, described: Describe): { readonly content: object } | null {
  if (answer === undefined && text === undefined) return null;
  return {
    content: {
      ...(answer === undefined ? {} : { "application/json": { schema: described(answer, "output") } }),
      ...(text === undefined ? {} : { [text]: { schema: { type: "string" } } }),
      ...(streams ? { "text/event-stream": { schema: { type: "string" } } } : {}),
    },
  };
}

/** For a schema inside a document, which states its dialect once. */
const withoutDialect = ({ $schema: _, ...schema }: object & { readonly $schema?: unknown }): object => schema;

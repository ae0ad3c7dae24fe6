import { readFileSync } from "node:fs";
import { z } from "zod";
import { gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { planSchema } from "@/solver/plan/plan";
import { policySchema } from "@/solver/plan/policySchema";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { type Meaning, meaningsIn } from "./fieldComments";
import { code, page, plain, table } from "./markdown";

/** The part of a JSON Schema that its tables use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The input of a zod schema, as JSON Schema 2020-12. */
export const jsonSchema = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;

/** Where the comments on a policy's fields stand. */
const policySources = ["plan/policySchema", "plan/cascadePolicy", "plan/slackPolicy", "plan/justInTimePolicy", "plan/queueing"]
  .concat("plan/directStart", "nextModel/cascadeRoutingDocument", "gates/gateDocument")
  .map((name) => `solver/${name}.ts`);

const documents = [
  {
    name: "plan",
    title: "Plan",
    about:
      "The document that is approved and applied. `weir plan --json` and the studio's **Export** write it; its id is the SHA-256 over everything in it.",
    schema: planSchema,
    sources: ["solver/plan/plan.ts", ...policySources],
  },
  {
    name: "policy",
    title: "Policy",
    about: "The part of a plan that the gateway follows: thresholds, judge, order and placement.",
    schema: policySchema,
    sources: policySources,
  },
  {
    name: "constraints",
    title: "Constraints",
    about: "What `--constraints` of `weir plan` and the **Constraints** panel of the Plan page take. All fields are optional.",
    schema: planConstraintsSchema,
    sources: ["solver/plan/constraints.ts"],
  },
  {
    name: "gateway-config",
    title: "Gateway configuration",
    about: "What `PUT /config` of the gateway's admin port takes. Applying a plan writes it; an operator's `settings` stay as they are.",
    schema: gatewayConfigSchema,
    sources: ["server/contracts/gateway/gatewayAdmin.ts", ...policySources, "solver/ensemble/gate/ensembleDocument.ts"],
  },
  {
    name: "ensemble",
    title: "Ensemble",
    about: "Experts, how their votes are read, and the aggregator.",
    schema: ensembleSchema,
    sources: ["solver/ensemble/gate/ensembleDocument.ts"],
  },
  {
    name: "workflow",
    title: "Workflow",
    about: "A declared workflow: its agents, what each reads, and the models each may run on.",
    schema: workflowDocumentSchema,
    sources: ["solver/plan/workflowDocument.ts"],
  },
] as const;

/** The files of JSON Schemas by name, and the page with a table of each. */
export function schemaFiles(root: string): { readonly page: string; readonly files: Readonly<Record<string, string>> } {
  const made = documents.map((one) => ({ ...one, json: jsonSchema(one.schema) }));
  const text = page([
    "# Configuration and plan schema",
    "Each table is made of the schema that the code validates with. A field with `[]` is one of a list, with `*` one under any name; `?` marks a field that may be left out. The meaning is the comment beside the field in the code.",
    ...made.flatMap(({ name, title, about, json, sources }) => {
      const meaning = meaningsIn(sources.map((path) => readFileSync(`${root}/${path}`, "utf8")));
      return [
        `## ${title}`,
        `${about} JSON Schema: <a href="/docs/reference/${name}.schema.json" target="_self">${name}.schema.json</a>.`,
        table(
          ["field", "type", "meaning"],
          rows(json, meaning).map((row) => [code(row.path), row.type, plain(row.meaning)]),
        ),
      ];
    }),
  ]);
  return {
    page: text,
    files: Object.fromEntries(made.map(({ name, json }) => [`${name}.schema.json`, `${JSON.stringify(json, null, 2)}\n`])),
  };
}

interface Row {
  readonly path: string;
  readonly type: string;
  /** Empty where it has none, or branches of a union have different ones. */
  readonly meaning: string;
}

/** Every field below a schema, objects before their fields, to a maximum depth. */
function rows(schema: JsonSchema, meaning: Meaning, path = "", depth = 0): readonly Row[] {
  const found = new Map<string, Row>();
  const keep = (row: Row): void => {
    const before = found.get(row.path);
    if (before === undefined) {
      found.set(row.path, row);
      return;
    }
    const type = before.type.split(" or ").includes(row.type) ? before.type : `${before.type} or ${row.type}`;
    found.set(row.path, { ...before, type, meaning: before.meaning === row.meaning ? row.meaning : "" });
  };
  const into = (below: JsonSchema, at: string): void => {
    if (depth < 6) for (const row of rows(below, meaning, at, depth + 1)) keep(row);
  };
  const fields = new Set(Object.keys(schema.properties ?? {}));
  for (const [field, below] of Object.entries(schema.properties ?? {})) {
    const at = `${path === "" ? "" : `${path}.`}${field}`;
    keep({ path: `${at}${schema.required?.includes(field) ? "" : "?"}`, type: typeText(below), meaning: meaning(field, fields) });
    into(below, at);
  }
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) into(one, path);
  if (schema.items !== undefined) into(schema.items, `${path}[]`);
  for (const item of schema.prefixItems ?? []) into(item, `${path}[]`);
  if (typeof schema.additionalProperties === "object") into(schema.additionalProperties, `${path}.*`);
  return [...found.values()];
}

function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return [...new Set(several.map(typeText))].join(" or ");
  const { type } = schema;
  if (type === "array") return schema.items === undefined ? "list" : `list of ${typeText(schema.items)}`;
  const { minimum, maximum } = schema;
  const least = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? "" : ` ≥ ${minimum}`;
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : ` ≤ ${maximum}`;
  return `${typeof type === "string" ? type : (type ?? ["any"]).join(" or ")}${least}${most}`;
}

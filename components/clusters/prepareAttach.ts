import type { EndpointDraft } from "@/server/contracts/studio";
import type { Inputs } from "../api/trpc";
import { formatCounted } from "../ui/format";
import type { EndpointRow } from "./prepareEndpointRows";

type Attach = Inputs["clusters"]["attach"];

/** Location of a secret: in a variable, in a file of the secrets folder, or nowhere. */
export interface ReferenceForm {
  readonly from: "none" | "environment" | "file";
  readonly text: string;
}

export const noReference: ReferenceForm = { from: "none", text: "" };

/** Who runs the gateway, as filled in so far. */
export interface GatewayForm {
  readonly runBy: "studio" | "operator";
  readonly url: string;
  readonly adminUrl: string;
  readonly token: ReferenceForm;
}

export const studioGateway: GatewayForm = { runBy: "studio", url: "", adminUrl: "", token: noReference };

/** What is entered about endpoints in addition to their addresses. */
export interface EndpointExtras {
  readonly judgeModel: string;
  readonly judgeUrl: string;
  /** Variable of the gateway that holds the judge's key. */
  readonly judgeKey: string;
  /** Mean seconds of a judge call; empty: as measured. */
  readonly judgeSeconds: string;
  /** Addresses of dcgm-exporter, one a line. */
  readonly dcgm: string;
}

export const noExtras: EndpointExtras = { judgeModel: "", judgeUrl: "", judgeKey: "", judgeSeconds: "", dcgm: "" };

type Reference = { readonly environment: string } | { readonly file: string };

/** A reference in the form of the document; `null`: none. */
export function referenceOf({ from, text }: ReferenceForm): Reference | null {
  const named = text.trim();
  if (from === "none" || named === "") return null;
  return from === "environment" ? { environment: named } : { file: named };
}

/** A reference in the form of the fields. */
export function referenceForm(reference: Reference | undefined): ReferenceForm {
  if (reference === undefined) return noReference;
  return "environment" in reference ? { from: "environment", text: reference.environment } : { from: "file", text: reference.file };
}

/** Why a reference cannot be used, in a sentence with the remedy; null where it can. A key itself is never sent. */
export function referenceFault({ from, text }: ReferenceForm): string | null {
  const named = text.trim();
  if (from === "none") return null;
  if (named === "") return from === "environment" ? "Name the variable that holds the key." : "Name the file that holds the key.";
  if (from === "environment" && !/^WEIR_ENGINE_[A-Z0-9_]{1,80}$/.test(named))
    return "Name a variable that begins with WEIR_ENGINE_, not the key itself: the studio keeps no keys.";
  return null;
}

/** Where to put a secret so that a reference finds it. `folder`: the secrets folder; null: the studio was started without one. */
export function referenceHint({ from, text }: ReferenceForm, folder: string | null): string | null {
  if (from === "none") return null;
  if (from === "environment") return "The variable has to be set before studio and gateway start; a file can be put there while they run.";
  if (folder === null) return "No file can be read: the studio was started without WEIR_SECRETS_DIR, which names the folder of secrets.";
  return `Put it into ${folder}/${text.trim() || "NAME"}: it is read within a second.`;
}

/** The gateway's location for `attach`; or what is still missing. */
export function gatewayOf(form: GatewayForm): { readonly gateway: Attach["gateway"] } | { readonly fault: string } {
  if (form.runBy === "studio") return { gateway: null };
  for (const [what, text] of [
    ["address", form.url],
    ["admin address", form.adminUrl],
  ] as const) {
    const url = text.trim();
    if (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url)) return { fault: `Give your gateway's ${what}, as in http://gateway-1:4610.` };
    if (new URL(url).pathname !== "/") return { fault: `Your gateway's ${what} must have no path.` };
  }
  const fault = referenceFault(form.token);
  if (fault !== null) return { fault: `Token of your gateway: ${fault}` };
  const token = referenceOf(form.token);
  const url = new URL(form.url.trim()).origin;
  const adminUrl = new URL(form.adminUrl.trim()).origin;
  return { gateway: { runBy: "operator", url, adminUrl, ...(token === null ? {} : { token }) } };
}

export interface AttachForm {
  readonly name: string;
  readonly gateway: GatewayForm;
  readonly extras: EndpointExtras;
  /** Whether the operator has confirmed the guessed values. */
  readonly confirmed: boolean;
}

export interface PreparedAttach {
  /** The connection to attach; null while there is an obstacle. */
  readonly request: Attach | null;
  /** The obstacle, in a sentence; null: none. */
  readonly blocked: string | null;
  /** `3 engines are attached, 1 is left out.` */
  readonly says: string;
  /** Unconfirmed values. */
  readonly guesses: number;
  /** Models that are attached. */
  readonly models: readonly string[];
}

/** What attaching would do, and why it is not possible yet. `taken`: names of existing clusters. */
export function prepareAttach(rows: readonly EndpointRow[], form: AttachForm, taken: readonly string[]): PreparedAttach {
  const ready = rows.flatMap(({ taken: attached, draft, adapters }) => (attached && draft !== null ? [{ draft, adapters }] : []));
  const drafts = ready.map(({ draft }) => draft);
  const withAdapters = ready.flatMap(({ draft, adapters }) => [draft, ...adapters.map((one) => adapterDraft(draft, one))]);
  const out = rows.length - drafts.length;
  const models = [...new Set(withAdapters.map(({ model }) => model))];
  const guesses = drafts.reduce((sum, draft) => sum + draft.guessed.length, 0);
  const about = {
    models,
    guesses,
    says:
      rows.length === 0
        ? ""
        : `${formatCounted(drafts.length, "engine")} of ${rows.length} will be attached${out === 0 ? "" : `, ${out} left out`}.`,
  };
  const blocked = (sentence: string): PreparedAttach => ({ ...about, request: null, blocked: sentence });
  const trying = rows.filter((row) => row.trying && !row.taken).length;
  if (rows.length === 0) return blocked("Paste the address of at least one engine.");
  if (trying > 0) return blocked(trying === 1 ? "One address is being tried." : `${trying} addresses are being tried.`);
  if (drafts.length === 0) return blocked("None of these can be attached yet: each shows its problem.");
  const named = nameAndGateway(form, taken);
  if ("fault" in named) return blocked(named.fault);
  const extras = extrasOf(form.extras);
  if ("fault" in extras) return blocked(extras.fault);
  const endpoints = withAdapters.map((draft) => written(draft, form.confirmed));
  const { told, ...judged } = extras;
  return { ...about, blocked: null, request: { ...named, ...judged, connection: { kind: "endpoints", endpoints, ...told } } };
}

/** The same for a connection that was written and tested; `connection` null: it was not tested, or cannot be used. */
export function prepareWrittenAttach(
  connection: unknown,
  form: Pick<AttachForm, "name" | "gateway">,
  taken: readonly string[],
): Pick<PreparedAttach, "request" | "blocked"> {
  if (connection === null) return { request: null, blocked: "Try the connection first: one that can be used can be attached." };
  const named = nameAndGateway(form, taken);
  return "fault" in named ? { request: null, blocked: named.fault } : { request: { ...named, connection }, blocked: null };
}

function nameAndGateway(
  form: Pick<AttachForm, "name" | "gateway">,
  taken: readonly string[],
): Pick<Attach, "name" | "gateway"> | { readonly fault: string } {
  const name = form.name.trim();
  if (name === "") return { fault: "Give it a name." };
  if (taken.includes(name)) return { fault: `A cluster "${name}" already exists: give another name.` };
  const gateway = gatewayOf(form.gateway);
  return "fault" in gateway ? gateway : { name, ...gateway };
}

/** An adapter as an endpoint of its own: on its parent's engine, under the name that the engine gives it. */
function adapterDraft(parent: EndpointDraft, servedName: string): EndpointDraft {
  const model = servedName.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  const end = model
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .slice(0, 20);
  const name = `${parent.name.slice(0, 18)}-${end}`.replace(/[^a-z0-9]+$/, "");
  return { ...parent, name, model, servedName, adapterOf: parent.model };
}

/** A draft in the form of a connection, without empty fields. */
function written({ guessed, ...draft }: EndpointDraft, confirmed: boolean): object {
  const said = Object.entries(draft).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(said), guessed: confirmed ? [] : guessed };
}

type JudgeInForm = { readonly model: string; readonly url: string; readonly keyFromEnvironment?: string };

/** The judge that is filled in; null if none is, or what is still missing. */
export function judgeInForm(form: EndpointExtras): JudgeInForm | { readonly fault: string } | null {
  const [model, url, key] = [form.judgeModel.trim(), form.judgeUrl.trim().replace(/(\/v1)?\/?$/, ""), form.judgeKey.trim()];
  if (model === "" && url === "" && key === "") return null;
  if (model === "") return { fault: "Give the name under which the judge's endpoint serves its model." };
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return { fault: "Give the judge's address, as in http://judge-1:8000." };
  if (key !== "" && !/^WEIR_JUDGE_[A-Z0-9_]{1,80}$/.test(key))
    return { fault: "Give the gateway's variable that holds the judge's key and begins with WEIR_JUDGE_, not the key itself." };
  return { model, url, ...(key === "" ? {} : { keyFromEnvironment: key }) };
}

interface Extras extends Pick<Attach, "judgeSecondsPerCall"> {
  readonly told: object;
}

function extrasOf(form: EndpointExtras): Extras | { readonly fault: string } {
  const dcgmUrls = form.dcgm.split(/[\s,]+/).filter(Boolean);
  const wrong = dcgmUrls.find((url) => !/^https?:\/\//.test(url) || !URL.canParse(url));
  if (wrong !== undefined) return { fault: `"${wrong}" is no address of dcgm-exporter, as in http://gpu-1:9400/metrics.` };
  const dcgm = dcgmUrls.length === 0 ? {} : { dcgmUrls };
  const judge = judgeInForm(form);
  if (judge !== null && "fault" in judge) return judge;
  const typed = form.judgeSeconds.trim();
  if (typed === "") return { told: judge === null ? dcgm : { ...dcgm, judge } };
  const seconds = Number(typed.replace(",", "."));
  if (judge === null) return { fault: "Name the judge whose seconds of a call are given." };
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > 600)
    return { fault: `"${typed}" is no number of seconds from 0 to 600: give the mean time of a judge call, as in 0.05.` };
  return { told: { ...dcgm, judge }, judgeSecondsPerCall: seconds };
}

/** A default name: from the first attached host that has one, made different from the existing names. */
export function suggestedName(rows: readonly Pick<EndpointRow, "url" | "taken">[], taken: readonly string[]): string {
  const hosts = rows.flatMap((row) => (row.taken ? [new URL(row.url).hostname] : []));
  const host = hosts.find((name) => !/^[\d.]+$|^\[|^localhost$/.test(name));
  const base = host?.split(".")[0] ?? "my engines";
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base} ${count}`;
    if (!taken.includes(name)) return name;
  }
}

import { word } from "../url/addressFields";
import type { UrlCodec } from "../url/useUrlView";

/** Steps of adding a workload. */
const steps = ["choose", "outcomes", "lines"] as const;
export type BringStep = (typeof steps)[number];

/** The view of the Workloads page. */
export interface WorkloadsView {
  /** Ids selected for comparison, at most two. */
  readonly ticked: readonly string[];
  /** Names whose earlier versions are shown. */
  readonly unfolded: readonly string[];
  /** The open step of adding a workload; null: none. */
  readonly bring: BringStep | null;
}

const MOST_TICKED = 2;

export const workloadsCodec: UrlCodec<WorkloadsView> = {
  parse: (params) => ({
    ticked: params.getAll("tick").flatMap(words).slice(0, MOST_TICKED),
    unfolded: params.getAll("versions").flatMap(words).map(decodeURIComponentSafely),
    bring: word(steps).parse(params.get("bring")),
  }),
  format: ({ ticked, unfolded, bring }) => ({
    tick: ticked.length === 0 ? undefined : ticked.join(" "),
    versions: unfolded.length === 0 ? undefined : unfolded.map(encodeURIComponent).join(" "),
    bring: bring ?? undefined,
  }),
};

/** Selects or deselects an id; a third deselects the first. */
export function tick(ticked: readonly string[], id: string): readonly string[] {
  return ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id].slice(-MOST_TICKED);
}

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

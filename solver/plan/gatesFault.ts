import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";

interface GatedStages {
  readonly stages: readonly { readonly model: string }[];
  readonly gates?: readonly GateDocument[] | undefined;
}

/** Why the gates of a cascade do not fit its stages, in one sentence with the offending value; null where they do, or none are named. */
export function gatesFault({ stages, gates }: GatedStages): string | null {
  if (gates === undefined) return null;
  if (gates.length !== stages.length - 1)
    return `A cascade of ${stages.length} stages needs ${stages.length - 1} gates, one for each stage but the last; found ${gates.length}.`;
  for (const [index, gate] of gates.entries()) {
    const model = stages[index]?.model ?? "";
    const simple = simpleGatesOf(gate);
    // The further answers do not say which of two gates asked for them.
    if (simple.filter(({ kind }) => kind === "agreement").length > 1)
      return `The sequence of stage ${index + 1} has two agreement gates, which would share their answers: name all samples and peers in one.`;
    for (const each of simple) {
      if (each.kind !== "agreement") continue;
      const { samples, peers = [] } = each;
      const which = `The agreement gate of stage ${index + 1}`;
      if (samples === undefined && peers.length === 0)
        return `${which} names neither samples nor peers, so there is nothing to agree with.`;
      if (peers.includes(model)) return `${which} names ${model} as a peer, which is the model of that stage: name samples instead.`;
      const repeated = peers.find((peer, at) => peers.indexOf(peer) !== at);
      if (repeated !== undefined) return `${which} names the peer ${repeated} twice.`;
    }
  }
  return null;
}

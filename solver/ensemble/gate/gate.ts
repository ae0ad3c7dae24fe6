import { reachesTau, TOLERANCE, voteWeight } from "./confidence";
import type { Confidence } from "./ensembleDocument";

export interface Vote {
  readonly expert: string;
  /** null: no vote could be read from its answer. */
  readonly vote: string | null;
  readonly outputTokens: number;
}

export interface GateDecision {
  readonly kind: "skip" | "aggregate";
  /**
   * The leading vote and the expert whose answer represents it: the one with most weight, then the first in the ensemble's order; null:
   * nobody voted.
   */
  readonly leading: { readonly vote: string; readonly expert: string } | null;
  /** Another answer has the same weight as the leading one: only its place in the order makes that one lead. */
  readonly tied: boolean;
  readonly confidence: number;
  /** Votes by answer, most first: `2:1`, `3:0` where all are for one, `0` where there are no votes. */
  readonly votes: string;
}

export interface Gate {
  /** Experts that received the question, in the ensemble's order. */
  readonly asked: readonly string[];
  readonly confidence: Confidence;
  readonly tau: number;
}

/** Votes for the same answer. */
interface Candidate {
  readonly vote: string;
  /** Position of its first expert among those asked, for ties. */
  readonly place: number;
  readonly votes: number;
  readonly weight: number;
  readonly standing: { readonly expert: string; readonly weight: number };
}

interface Count {
  readonly candidates: readonly Candidate[];
  readonly leading: Candidate | null;
  /** Total weight of all experts asked, including those without a vote. */
  readonly weight: number;
}

/**
 * Whether to skip the aggregator (MOSAIC, section 4.2, equation 11, and algorithm 1): where the leading votes have at least tau of the
 * weight of all experts asked, so that one that is late, failed or gave no vote counts against agreement. Votes of others and second votes
 * are not counted.
 */
export function decideGate(votes: readonly Vote[], gate: Gate): GateDecision {
  const count = countVotes(votes, gate);
  const { candidates, leading } = count;
  const confidence = leading === null ? 0 : leading.weight / count.weight;
  return {
    kind: leading !== null && reachesTau(confidence, gate.tau) ? "skip" : "aggregate",
    leading: leadingOf(count),
    tied: candidates.some((other) => leading !== null && other !== leading && leading.weight - other.weight <= TOLERANCE),
    confidence,
    votes: votesText(candidates),
  };
}

/** The leading vote alone, as `decideGate` finds it: with the most weight, then the first in the order of those asked. */
export const leadingVote = (votes: readonly Vote[], gate: Pick<Gate, "asked" | "confidence">): GateDecision["leading"] =>
  leadingOf(countVotes(votes, gate));

const leadingOf = ({ leading }: Count): GateDecision["leading"] => leading && { vote: leading.vote, expert: leading.standing.expert };

/**
 * The current decision, if no outstanding vote can change whether to skip or, when skipping, which vote leads; null: they can. Exact: it
 * detects every decision that is settled by the existing votes.
 */
export function settledGate(votes: readonly Vote[], gate: Gate): GateDecision | null {
  const decision = decideGate(votes, gate);
  const { candidates, leading, weight } = countVotes(votes, gate);
  const answered = new Set(votes.map(({ expert }) => expert));
  const { most } = voteWeight(gate.confidence);
  const out = gate.asked.map((expert, place) => ({ expert, place })).filter(({ expert }) => !answered.has(expert));
  const outWeight = out.reduce((sum, { expert }) => sum + most(expert), 0);
  const [firstOut] = out;
  if (firstOut === undefined) return decision;
  if (decision.kind === "aggregate") {
    // Any answer can gain at most the outstanding weight.
    const reachable = ((leading?.weight ?? 0) + outWeight) / weight;
    return reachesTau(reachable, gate.tau) ? null : decision;
  }
  if (leading === null) return null;
  const newcomer = { place: firstOut.place, weight: 0 };
  const rivals = [...candidates.filter((candidate) => candidate !== leading), newcomer].map((rival) => ({
    place: Math.min(rival.place, firstOut.place),
    weight: rival.weight + outWeight,
  }));
  return rivals.some((rival) => leads(rival, leading)) ? null : decision;
}

type Standing = Pick<Candidate, "place" | "weight">;

const leads = (a: Standing, b: Standing): boolean => (Math.abs(a.weight - b.weight) <= TOLERANCE ? a.place < b.place : a.weight > b.weight);

function countVotes(votes: readonly Vote[], { asked, confidence }: Pick<Gate, "asked" | "confidence">): Count {
  const weigh = voteWeight(confidence);
  const given = firstVotes(votes, asked);
  const candidates = new Map<string, Mutable<Candidate>>();
  let total = 0;
  // In the order of those asked, so that the order of votes' arrival changes no sum.
  asked.forEach((expert, place) => {
    const { vote = null, outputTokens = 0 } = given(expert, place) ?? {};
    const weight = vote === null ? weigh.most(expert) : weigh.vote(expert, outputTokens);
    total += weight;
    if (vote === null) return;
    const known = candidates.get(vote);
    if (known === undefined) {
      candidates.set(vote, { vote, place, votes: 1, weight, standing: { expert, weight } });
      return;
    }
    known.votes += 1;
    known.weight += weight;
    if (weight > known.standing.weight + TOLERANCE) known.standing = { expert, weight };
  });
  const all = [...candidates.values()];
  const leading = all.reduce<Candidate | null>((best, next) => (best === null || leads(next, best) ? next : best), null);
  return { candidates: all, leading, weight: total };
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** The first vote of each expert; replays have one of each, in the order of those asked. */
function firstVotes(votes: readonly Vote[], asked: readonly string[]): (expert: string, place: number) => Vote | undefined {
  if (votes.length === asked.length && votes.every(({ expert }, place) => expert === asked[place])) return (_, place) => votes[place];
  const given = new Map<string, Vote>();
  for (const vote of votes) if (!given.has(vote.expert)) given.set(vote.expert, vote);
  return (expert) => given.get(expert);
}

function votesText(candidates: readonly Candidate[]): string {
  const counts = candidates.map(({ votes }) => votes).sort((a, b) => b - a);
  if (counts.length === 0) return "0";
  return counts.length === 1 ? `${counts[0]}:0` : counts.join(":");
}

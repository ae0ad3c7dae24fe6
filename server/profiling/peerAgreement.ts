import type { Outcome, ProfileRequest } from "@/server/contracts/studio";
import type { Extraction } from "@/solver/judging/extract";
import { sampleScore } from "./gateReadings";

/** A profiled model whose answers the others' are compared with, and the part of them that is. */
export interface ProfiledPeer {
  readonly model: string;
  readonly answer: Extraction;
}

/** Whether an answer agrees with the peer's to the same prompt, 100 or 0. */
export interface PeerReading {
  readonly position: number;
  readonly model: string;
  readonly score: number;
}

type TextsOf = (model: string) => readonly { readonly position: number; readonly answer: string }[];

/** Why a profile's answers cannot be compared with a peer's, in a sentence; ok: they can. */
export function peerProblem({ models }: Pick<ProfileRequest, "models">, peer: ProfiledPeer, hasAnswers: boolean): Outcome<object> {
  const names = models.map(({ model }) => model);
  if (!names.includes(peer.model))
    return {
      ok: false,
      message: `"${peer.model}" is no model of this profile, so that there are no answers to compare with. Its models are ${names.join(", ")}.`,
    };
  if (names.length < 2) return { ok: false, message: "Agreement with a peer needs a second model, and this profile has one." };
  return hasAnswers
    ? { ok: true }
    : { ok: false, message: "Agreement compares texts of answers, and none are stored: profile again and keep the texts of answers." };
}

/**
 * Compares stored answers of some prompts with those of a peer, as a gate does while serving (`answerAgreement`). Answers without a text of
 * both are left out.
 *
 * @param textsOf the stored answers of a model to these prompts.
 */
export function* peerReadings(
  models: readonly string[],
  { model: peer, answer: part }: ProfiledPeer,
  textsOf: TextsOf,
): Generator<PeerReading> {
  const others = models.filter((model) => model !== peer);
  const peers = new Map(textsOf(peer).map(({ position, answer }) => [position, answer]));
  for (const model of others)
    for (const { position, answer } of textsOf(model)) {
      const other = peers.get(position);
      if (other !== undefined) yield { position, model, score: sampleScore(answer, other, part) };
    }
}

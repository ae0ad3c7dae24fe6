import type { EndpointToTry, TriedEndpoint, TryEvent } from "@/server/contracts/studio";

/** The current knowledge about pasted addresses. Endpoints are identified by their URL. */
export interface EndpointAttempt {
  /** As last read from the text, with the access settings entered since. */
  readonly endpoints: readonly EndpointToTry[];
  /** What was left out of the text. */
  readonly notes: readonly string[];
  /** Why the text cannot be read. */
  readonly refused: string | null;
  readonly tried: Readonly<Record<string, TriedEndpoint>>;
  /** URLs that are being tried. */
  readonly waiting: readonly string[];
}

export type AttemptAct =
  /** `asked`: the endpoints that are tested one by one; null: those of the text. */
  | { readonly kind: "begin"; readonly asked: readonly EndpointToTry[] | null }
  | { readonly kind: "heard"; readonly asked: readonly EndpointToTry[] | null; readonly event: TryEvent }
  | { readonly kind: "ended"; readonly asked: readonly EndpointToTry[] | null }
  | { readonly kind: "cleared" };

export const noAttempt: EndpointAttempt = { endpoints: [], notes: [], refused: null, tried: {}, waiting: [] };

/** Whether an operator entered more about an endpoint than its text has, so that a result for the text does not replace it. */
const isToldMore = ({ key, caFile, servedName }: EndpointToTry): boolean =>
  key !== undefined || caFile !== undefined || servedName !== undefined;

/** An attempt after an event. Findings are kept until there are newer ones. */
export function afterAct(attempt: EndpointAttempt, act: AttemptAct): EndpointAttempt {
  switch (act.kind) {
    case "cleared":
      return noAttempt;
    case "begin":
      if (act.asked === null) return { ...attempt, refused: null };
      return {
        ...attempt,
        endpoints: attempt.endpoints.map((known) => act.asked?.find(({ url }) => url === known.url) ?? known),
        waiting: [...new Set([...attempt.waiting, ...act.asked.map(({ url }) => url)])],
      };
    case "heard":
      return afterEvent(attempt, act.event, act.asked);
    case "ended": {
      const mine = act.asked?.map(({ url }) => url) ?? attempt.waiting;
      return { ...attempt, waiting: attempt.waiting.filter((url) => !mine.includes(url)) };
    }
  }
}

function afterEvent(attempt: EndpointAttempt, event: TryEvent, asked: readonly EndpointToTry[] | null): EndpointAttempt {
  switch (event.kind) {
    case "refused":
      return { ...attempt, refused: event.message, waiting: asked === null ? [] : attempt.waiting };
    case "read": {
      if (asked !== null) return attempt;
      const endpoints = event.endpoints.map((read) => {
        const known = attempt.endpoints.find(({ url }) => url === read.url);
        return known !== undefined && isToldMore(known) ? { ...known, name: read.name } : read;
      });
      const settled = (url: string) => attempt.tried[url] !== undefined && endpoints.some((each) => each.url === url && isToldMore(each));
      return {
        ...attempt,
        endpoints,
        notes: event.notes,
        refused: null,
        waiting: endpoints.map(({ url }) => url).filter((url) => !settled(url)),
      };
    }
    case "tried": {
      const { endpoint } = event;
      const { url } = endpoint.tried;
      const known = attempt.endpoints.find((each) => each.url === url);
      const outdated = known === undefined || (asked === null && isToldMore(known) && !isToldMore(endpoint.tried));
      return outdated
        ? attempt
        : { ...attempt, tried: { ...attempt.tried, [url]: endpoint }, waiting: attempt.waiting.filter((each) => each !== url) };
    }
  }
}

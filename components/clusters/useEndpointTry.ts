"use client";

import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import type { EndpointToTry } from "@/server/contracts/studio";
import { isUnanswered } from "../api/isUnanswered";
import { useTRPCClient } from "../api/trpc";
import { useDebounced } from "../ui/useDebounced";
import { afterAct, type EndpointAttempt, noAttempt } from "./endpointAttempt";

/** Replaces a key that is not shown; the studio reads it as an omitted key and says so. */
const LEFT_OUT = "left-out";

/** A variable, which names a key and is not a key itself. */
const isVariable = (token: string): boolean => /^\$\{?\w+\}?$/.test(token);

const blank = (whole: string, before: string, token: string): string => (isVariable(token) ? whole : `${before}${LEFT_OUT}`);

/**
 * Pasted text without its keys: they stay in the browser. Lines keep their numbers.
 *
 * @example withoutKeys("curl -H 'Authorization: Bearer sk-1' http://gpu-1:8000") // curl -H 'Authorization: Bearer left-out' http://gpu-1:8000
 */
export function withoutKeys(text: string): string {
  return text
    .replace(/(authorization:\s*(?:(?:bearer|basic|token)\s+)?)([^\s"'\\]+)/gi, blank)
    .replace(/((?:x-)?api-key\s*[:=]\s*)([^\s"'\\]+)/gi, blank)
    .replace(/((?:^|\s)(?:-u|--user|--oauth2-bearer)[\s=]+["']?)([^\s"'\\]+)/gim, blank)
    .replace(/(https?:\/\/)([^\s/@"']+@)/gi, `$1${LEFT_OUT}@`)
    .replace(/()\b((?:sk|hf|gsk|nvapi|glpat|ghp)[-_][A-Za-z0-9_-]{8,})/g, blank);
}

/** Long enough not to test a typed address letter by letter, short enough to read a paste at once. */
const STILL_MS = 400;

/** How long a studio that does not answer is left alone before it is asked again. */
const AGAIN_MS = 2_000;

export interface EndpointTry {
  readonly attempt: EndpointAttempt;
  /** Why nothing arrives at the moment: the studio does not answer, or refused; null: no problem. */
  readonly fault: string | null;
  /** Tests some endpoints again with the access settings entered. `generate`: with one token each. */
  readonly tryAgain: (endpoints: readonly EndpointToTry[], options?: { readonly generate: boolean }) => void;
}

/** Tests the addresses in a text once it has not changed for a moment. Changing the text or leaving the page cancels tests in progress. */
export function useEndpointTry(text: string): EndpointTry {
  const client = useTRPCClient();
  const [attempt, act] = useReducer(afterAct, noAttempt);
  const [fault, setFault] = useState<string | null>(null);
  const apart = useRef(new Set<AbortController>());
  const still = useDebounced(text, STILL_MS);

  const begin = useCallback(
    (asked: readonly EndpointToTry[] | null, input: Parameters<typeof client.clusters.tryEndpoints.mutate>[0]): AbortController => {
      const ending = new AbortController();
      const { signal } = ending;
      const hear = async (): Promise<void> => {
        const events = await client.clusters.tryEndpoints.mutate(input, { signal });
        setFault(null);
        for await (const event of events) {
          if (signal.aborted) return;
          act({ kind: "heard", asked, event });
        }
      };
      const follow = async (): Promise<void> => {
        try {
          await hear();
        } catch (error) {
          if (signal.aborted) return;
          if (isUnanswered(error)) {
            setFault("The studio does not answer; addresses are tried once it does.");
            const timer = setTimeout(() => void follow(), AGAIN_MS);
            return signal.addEventListener("abort", () => clearTimeout(timer));
          }
          setFault(error instanceof Error ? error.message : String(error));
        }
        if (!signal.aborted) act({ kind: "ended", asked });
      };
      setFault(null);
      act({ kind: "begin", asked });
      void follow();
      return ending;
    },
    [client],
  );

  useEffect(() => {
    if (still.trim() === "") {
      setFault(null);
      return act({ kind: "cleared" });
    }
    const trying = begin(null, { text: withoutKeys(still) });
    return () => trying.abort();
  }, [still, begin]);

  useEffect(() => {
    const running = apart.current;
    return () => {
      for (const trying of running) trying.abort();
    };
  }, []);

  const tryAgain = useCallback<EndpointTry["tryAgain"]>(
    (endpoints, { generate } = { generate: false }) => {
      if (endpoints.length > 0) apart.current.add(begin(endpoints, { endpoints: [...endpoints], generate }));
    },
    [begin],
  );
  return { attempt, fault, tryAgain };
}

"use client";

import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import type { EndpointToTry } from "@/server/contracts/studio";
import { isUnanswered } from "../api/isUnanswered";
import { useTRPCClient } from "../api/trpc";
import { useDebounced } from "../ui/useDebounced";
import { afterAct, type EndpointAttempt, noAttempt } from "./endpointAttempt";

/** Replaces a key that is not shown; the studio reads it as an omitted key and says so. */
const LEFT_OUT = "left-out";

/** A variable, which names a key and is none. */
const isVariable = (token: string): boolean => /^\$\{?\w+\}?$/.test(token);

const blank = (whole: string, before: string, token: string): string => (isVariable(token) ? whole : `${before}${LEFT_OUT}`);

/**
 * Pasted text without the keys in it: they stay in the browser, since what is tried is part of an address. Lines keep their numbers.
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

/** Long enough that an address that is typed is not tried letter by letter, short enough that a paste is read at once. */
const STILL_MS = 400;

/** What goes into an address, encoded; servers take some 16 kB with everything else in it. */
const MOST_ENCODED = 12_000;

export interface EndpointTry {
  readonly attempt: EndpointAttempt;
  /** Why nothing comes at the moment: the studio does not answer, or refused; null: nothing is amiss. */
  readonly fault: string | null;
  /** Tries some again, with what was said of how they are let in. `generate`: with one token of each. */
  readonly tryAgain: (endpoints: readonly EndpointToTry[], options?: { readonly generate: boolean }) => void;
}

/** Tries the addresses in a text as soon as it is still for a moment. A text that changes, or a page that is left, ends what is under way. */
export function useEndpointTry(text: string): EndpointTry {
  const client = useTRPCClient();
  const [attempt, act] = useReducer(afterAct, noAttempt);
  const [fault, setFault] = useState<string | null>(null);
  const apart = useRef(new Set<{ unsubscribe(): void }>());
  const still = useDebounced(text, STILL_MS);

  const subscribe = useCallback(
    (asked: readonly EndpointToTry[] | null, input: Parameters<typeof client.clusters.tryEndpoints.subscribe>[0]) => {
      const tooLong = encodeURIComponent(JSON.stringify(input)).length > MOST_ENCODED;
      if (tooLong) {
        setFault("That is more than can be tried at once: paste about 150 addresses, attach them, and add the others to its connection.");
        return { unsubscribe: () => {} };
      }
      setFault(null);
      act({ kind: "begin", asked });
      const end = (): void => {
        subscription.unsubscribe();
        act({ kind: "ended", asked });
      };
      const subscription = client.clusters.tryEndpoints.subscribe(input, {
        onData: (event) => act({ kind: "heard", asked, event }),
        onComplete: () => act({ kind: "ended", asked }),
        onError: (error) => {
          setFault(error.message);
          end();
        },
        // The link connects again by itself: a studio that is away is waited for, its own refusal would only come again.
        onConnectionStateChange: ({ error }) => {
          if (error === null) return setFault(null);
          if (isUnanswered(error)) return setFault("The studio does not answer; addresses are tried once it does.");
          setFault(error.message);
          end();
        },
      });
      return subscription;
    },
    [client],
  );

  useEffect(() => {
    if (still.trim() === "") {
      setFault(null);
      return act({ kind: "cleared" });
    }
    const subscription = subscribe(null, { text: withoutKeys(still) });
    return () => subscription.unsubscribe();
  }, [still, subscribe]);

  useEffect(() => {
    const running = apart.current;
    return () => {
      for (const subscription of running) subscription.unsubscribe();
    };
  }, []);

  const tryAgain = useCallback<EndpointTry["tryAgain"]>(
    (endpoints, { generate } = { generate: false }) => {
      if (endpoints.length > 0) apart.current.add(subscribe(endpoints, { endpoints: [...endpoints], generate }));
    },
    [subscribe],
  );
  return { attempt, fault, tryAgain };
}

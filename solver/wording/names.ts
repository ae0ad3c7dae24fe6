import { z } from "zod";

/**
 * A machine name: no shell, flag, header, label, YAML or path reads it as anything but a name. Models (`meta-llama/Llama-3.1-8B`), GPU
 * types, nodes (`10.0.0.7`) and clusters have such names.
 */
const machinePattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,254}$/;

/** No control character, no line or paragraph separator, no unpaired surrogate, and nothing that reverses the direction of text. */
const oneLinePattern = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}]*$/u;

const oneLineOnly = "must be one line of text without control characters";

/** The name of a model, a GPU type, a node, a cluster or an image. */
export const machineName = z
  .string()
  .regex(machinePattern, "must be a name: letters, digits and . _ - / : @ +, a letter or a digit first, 255 characters at most");

/** Text for people, or a name that others chose. */
export const oneLine = z.string().regex(oneLinePattern, oneLineOnly);

/** A title for people, such as a plan's: spaces and any script. */
export const title = oneLine.min(1).max(1000);

/** A title as an operator enters it. */
export const enteredTitle = z
  .string()
  .trim()
  .min(1, "give it a name")
  .max(80, "give a name of at most 80 characters")
  .regex(oneLinePattern, oneLineOnly);

/** A repository's name or a path: an argument of its own in command lines, where a dash would make it a flag. */
export const weightsSource = oneLine.min(1).regex(/^[^-]/, "must be a repository's name or a path, which does not begin with a dash");

/** An argument of a program. */
export const argument = z.string().regex(/^[^\0\p{Cs}]*$/u, "must be text that a command line can hold, without a NUL");

/** A label of RFC 1123, as Kubernetes requires for names of namespaces and Services. */
export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be a DNS label: lower case letters, digits and dashes");

/** A subdomain of RFC 1123, as Kubernetes requires for names of Secrets and volume claims. */
export const dnsName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "must be a DNS name: lower case letters, digits, dashes, dots",
  );

/** The name of an environment variable, as POSIX has it. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a variable's name: letters, digits and underscores, no digit first");

import { z } from "zod";

/**
 * A machine name: letters, digits and `. _ - / : @ +`, with a letter or a digit first, so that no shell, flag, header, label or path reads
 * it as anything but a name. Ids of models (`meta-llama/Llama-3.1-8B`), GPU types, nodes (`fd00::7`) and clusters are of this form.
 */
const machinePattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$/;

/** No control character, no line or paragraph separator, no unpaired surrogate, and nothing that reverses the direction of text. */
const oneLinePattern = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}]*$/u;

const oneLineOnly = "is one line of text without control characters";

/** The name of a model, a GPU type, a node or a cluster. */
export const machineName = z
  .string()
  .regex(
    machinePattern,
    "is a name of at most 200 letters, digits, dots, dashes, underscores, slashes, colons, + and @ that begins with a letter or a digit",
  );

/** Text for people, or a name that others chose: one line. */
export const oneLine = z.string().regex(oneLinePattern, oneLineOnly);

/** A title for people, such as a plan's: any script, spaces, one line. */
export const title = oneLine.min(1).max(1000);

/** A title as an operator enters it. */
export const enteredTitle = z
  .string()
  .trim()
  .min(1, "give it a name")
  .max(80, "give a name of at most 80 characters")
  .regex(oneLinePattern, oneLineOnly);

/** A repository's name or a path: it stands in command lines as a word of its own, where a dash would make it a flag. */
export const weightsSource = oneLine.min(1).regex(/^[^-]/, "a repository's name or a path does not begin with a dash");

/** A label of RFC 1123, as Kubernetes requires for names of namespaces, Services and others. */
export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be a DNS label: lower case letters, digits and dashes");

/** A subdomain of RFC 1123, as Kubernetes requires for names of Secrets, volume claims and others. */
export const dnsName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "must be a DNS name: lower case letters, digits, dashes, dots",
  );

/** The name of an environment variable (POSIX). */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable has letters, digits and underscores, and no digit first");

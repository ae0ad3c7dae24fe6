import type { Role } from "@/server/contracts/studio";
import type { Option } from "../ui/Field";

/** What a role adds to the one before it. */
const roleTexts: Readonly<Record<Role, string>> = {
  viewer: "reads all pages except the audit and changes nothing",
  operator: "prepares workloads and plans, applies approved plans, operates live traffic and reads the audit",
  approver: "does what an operator does, and approves plans",
  admin: "does everything: also attaches clusters, captures prompts and manages people and keys",
};

export const roleOptions: readonly Option<Role>[] = (Object.keys(roleTexts) as Role[]).map((role) => ({ value: role, text: role }));

export const roleSentence = (role: Role): string => `The role ${role} ${roleTexts[role]}.`;

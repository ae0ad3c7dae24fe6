import type { ReactNode } from "react";
import type { LabelTask } from "@/server/contracts/studio";

const roleWords: Readonly<Record<string, string>> = {
  system: "System",
  developer: "Developer",
  user: "User",
  assistant: "Assistant, earlier",
  tool: "Result of a tool",
};

/** A text shown verbatim, never as markup: it wraps, keeps its line breaks and uses its own direction. */
const Text = ({ children }: { readonly children: string }) => (
  <p dir="auto" className="text-base wrap-anywhere whitespace-pre-wrap">
    {children === "" ? <span className="text-ink-3">(empty)</span> : children}
  </p>
);

/** A long conversation is scrolled to its end, where the question that was answered is. */
function toEnd(region: HTMLElement | null): void {
  if (region !== null) region.scrollTop = region.scrollHeight;
}

/** A text with its name that scrolls in place where it is long. */
function Scrolled(props: { readonly name: string; readonly height: string; readonly atEnd?: boolean; readonly children: ReactNode }) {
  return (
    <section
      ref={props.atEnd ? toEnd : null}
      aria-label={props.name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
      className={`flex min-w-0 flex-col gap-3 overflow-y-auto rounded-lg border bg-panel p-4 max-sm:p-3 ${props.height}`}
    >
      <h2 className="text-xs font-semibold text-ink-3">{props.name}</h2>
      {props.children}
    </section>
  );
}

function Messages({ messages }: { readonly messages: LabelTask["messages"] }) {
  // A single question needs no label of its speaker.
  if (messages.length === 1 && messages[0] !== undefined) return <Text>{messages[0].text}</Text>;
  return (
    <ol className="flex list-none flex-col gap-3">
      {messages.map(({ role, text }, at) => (
        <li key={at} className="flex flex-col gap-0.5 border-l-2 border-line-strong pl-3">
          <span className="text-xs text-ink-3">{roleWords[role] ?? role}</span>
          <Text>{text}</Text>
        </li>
      ))}
    </ol>
  );
}

/** Heights at which prompt and answers are visible together with the buttons below them. */
const [tall, middle, low] = ["max-h-[60vh] max-lg:max-h-[32vh]", "max-h-[40vh] max-sm:max-h-[34vh]", "max-h-[28vh] max-sm:max-h-[20vh]"];

const answerNames = ["Left answer", "Right answer"] as const;

/** The texts of a labelling task: the prompt, the reference where there is one, and one answer or two side by side. */
export function TaskView({ task }: { readonly task: LabelTask }) {
  const [answer, other] = task.answers;
  const prompt = (
    <Scrolled
      name={task.messages.length > 1 ? "Conversation" : "Prompt"}
      height={other === undefined ? tall : low}
      atEnd={task.messages.length > 1}
    >
      <Messages messages={task.messages} />
      {task.reference !== null && (
        <div className="flex flex-col gap-0.5 border-t pt-3">
          <h3 className="text-xs text-ink-3">Reference answer</h3>
          <Text>{task.reference}</Text>
        </div>
      )}
    </Scrolled>
  );
  if (other === undefined) {
    return (
      <div className="grid items-start gap-3 lg:grid-cols-2">
        {prompt}
        <Scrolled name="Answer" height={tall}>
          <Text>{answer ?? ""}</Text>
        </Scrolled>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      {prompt}
      <div className="grid grid-cols-2 items-start gap-3 max-sm:gap-2">
        {[answer ?? "", other].map((text, at) => (
          <Scrolled key={answerNames[at]} name={answerNames[at] ?? ""} height={middle}>
            <Text>{text}</Text>
          </Scrolled>
        ))}
      </div>
    </div>
  );
}

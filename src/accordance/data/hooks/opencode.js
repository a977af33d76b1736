// Written by `accordance hook opencode`; `accordance hook opencode --remove` takes it out again.
// When opencode has finished, accordance judges the work. If it is not done, opencode gets the reasons and goes on.
import { spawn, spawnSync } from "node:child_process"

const PROGRAM = "accordance"
// `opencode run` ends at its first idle moment and waits for nothing asynchronous.
const RUNS_ONCE = process.argv.includes("run")
const WITH_VALUE = ["--format", "--model", "-m", "--agent", "--variant", "--log-level"]
const WITHOUT_VALUE = ["--auto", "--dangerously-skip-permissions", "--thinking", "--print-logs"]
const SENT_BACK = "ACCORDANCE_SENT_BACK"

const answerOf = (code, output, problem) => {
  if (code === 0) return output.trim() ? JSON.parse(output) : {}
  return { systemMessage: `accordance did not judge the work: ${problem.trim() || `exit code ${code}`}` }
}

const askNow = (words, question) => {
  const ran = spawnSync(PROGRAM, words, { input: question, encoding: "utf8", maxBuffer: 1 << 26 })
  return answerOf(ran.status, ran.stdout ?? "", ran.error ? String(ran.error) : ran.stderr)
}

const ask = (words, question) =>
  new Promise((resolve) => {
    const output = []
    const problem = []
    const running = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "pipe"] })
    running.stdout.on("data", (part) => output.push(part))
    running.stderr.on("data", (part) => problem.push(part))
    running.stdin.on("error", () => {})
    running.on("error", (error) => resolve(answerOf(1, "", String(error))))
    running.on("close", (code) => resolve(answerOf(code, Buffer.concat(output).toString(), Buffer.concat(problem).toString())))
    running.stdin.end(question)
  })

const flagsOf = (words) => {
  const flags = []
  words.forEach((word, at) => {
    if (WITH_VALUE.includes(word)) flags.push(word, words[at + 1])
    else if (WITHOUT_VALUE.includes(word) || WITH_VALUE.some((flag) => word.startsWith(`${flag}=`))) flags.push(word)
  })
  return flags
}

// A run of its own takes the session up where this run leaves it.
const goOnAfterThisRun = (session, directory, reason) => {
  const words = ["run", "--session", session, "--dir", directory, ...flagsOf(process.argv), reason]
  const environment = { ...process.env, [SENT_BACK]: session }
  const ran = spawnSync(process.execPath, words, { stdio: ["ignore", "inherit", "inherit"], env: environment })
  process.exitCode = ran.status ?? 1
}

export const Accordance = async ({ client, directory, worktree }) => {
  const words = ["hook", "run", "opencode", "--repo", worktree && worktree !== "/" ? worktree : directory]
  const children = new Set() // sessions of subagents
  const interrupted = new Set() // sessions that a person or an error has stopped
  const sentBack = new Set([process.env[SENT_BACK]])
  const sending = new Set()
  const asking = new Map() // with which agent and model a session is asked

  const show = async (message, variant) => {
    if (RUNS_ONCE) return void process.stderr.write(`${message}\n`)
    await client.tui.showToast({ body: { message, variant } }).catch(() => {})
  }

  const sendBack = async (session, reason) => {
    sentBack.add(session)
    sending.add(session)
    const body = { ...asking.get(session), parts: [{ type: "text", text: reason }] }
    await client.session.prompt({ path: { id: session }, body })
  }

  const stopped = (session) => {
    const question = JSON.stringify({
      session_id: session,
      cwd: directory,
      hook_event_name: "Stop",
      stop_hook_active: sentBack.has(session),
    })
    if (!RUNS_ONCE) return ask(words, question).then((answer) => answered(session, answer))
    const answer = askNow(words, question)
    if (answer.decision === "block") return goOnAfterThisRun(session, directory, answer.reason)
    return answered(session, answer)
  }

  const answered = async (session, answer) => {
    if (answer.decision === "block") return sendBack(session, answer.reason)
    if (answer.systemMessage) await show(answer.systemMessage, "info")
  }

  return {
    "chat.message": async ({ sessionID }, { message }) => {
      interrupted.delete(sessionID)
      if (!sending.delete(sessionID) && !RUNS_ONCE) sentBack.delete(sessionID)
      asking.set(sessionID, { agent: message.agent, model: message.model })
    },
    event: async ({ event }) => {
      const { properties } = event
      if (event.type === "session.created" && properties.info.parentID) children.add(properties.info.id)
      if (event.type === "session.error") interrupted.add(properties.sessionID)
      if (event.type !== "session.idle") return
      const session = properties.sessionID
      if (children.has(session) || interrupted.has(session)) return
      await stopped(session)
    },
  }
}

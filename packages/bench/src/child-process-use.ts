import { readFileSync } from 'node:fs'

/** What a process has used so far, as Linux counts it; `undefined` elsewhere, and once it has ended. */
export interface ProcessUse {
  /** User and system time of all its threads. */
  readonly processorMs: number
  /** Peak of the resident memory. */
  readonly mostMb: number
}

/** A tick of `/proc/<pid>/stat`. */
const TICK_MS = 10
/** Fields after the name of the program: user time and system time. */
const [USER, SYSTEM] = [11, 12]

/** Reads from `/proc` what a process has used so far. */
export function useOf(pid: number | undefined): ProcessUse | undefined {
  if (pid === undefined) return undefined
  const [status, stat] = ['status', 'stat'].map((name) => textOf(`/proc/${pid}/${name}`))
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status ?? '')?.[1]
  if (stat === undefined || kilobytes === undefined) return undefined
  const fields = (stat.split(') ').at(-1) ?? '').split(' ')
  const processorMs = (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_MS
  return { processorMs, mostMb: Number(kilobytes) / 1_024 }
}

/** `ESRCH`: the process ended after its file was opened. */
const GONE: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH'])

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (GONE.has(Reflect.get(Object(error), 'code'))) return undefined
    throw error
  }
}

import { existsSync, readFileSync } from 'node:fs'

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
  const folder = `/proc/${pid}`
  if (pid === undefined || !existsSync(`${folder}/stat`)) return undefined
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) return undefined
  const fields = (readFileSync(`${folder}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ')
  const processorMs = (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_MS
  return { processorMs, mostMb: Number(kilobytes) / 1_024 }
}

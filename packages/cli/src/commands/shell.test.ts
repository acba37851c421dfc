import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Completer } from '../io.js'
import { run } from '../program.js'
import { wordsOf } from './shell.js'

const SAMPLE = fileURLToPath(new URL('../../sample', import.meta.url))
const SYSTEM = 'http://example.org/fhir/CodeSystem/visit-priority'

/** What a shell over the sample content says to these lines. */
async function said(
  lines: readonly string[],
  { asked = async () => {}, isPrompting = true }: { asked?: (completer: Completer) => Promise<void>; isPrompting?: boolean } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const io = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    stdin: async () => '',
    isPrompting,
    async *lines(completer: Completer) {
      await asked(completer)
      yield* lines
    },
  }
  const status = await run(['shell', '--load', SAMPLE], io)
  return { status, out: out.join('\n'), err: err.join('\n') }
}

describe('fhir-ops shell', () => {
  test('runs lines over what it has loaded, and goes on after one that is wrong', async () => {
    const { status, out, err } = await said([
      '',
      `lookup none --system ${SYSTEM}`,
      'lokup',
      'expand http://example.org/fhir/ValueSet/visit-priority --filter urg',
    ])
    expect(status).toBe(0)
    expect(out).toMatch(/^urgent +Urgent/m)
    expect(err).toContain("unknown command 'lokup'")
    expect(err).toMatch(/error: .*'none'/)
    expect(err).not.toContain('Only the definitions of FHIR R4')
  })

  test('gives a line as much time as its command has elsewhere', async () => {
    let now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    onTestFinished(() => clock.mockRestore())
    const { out, err } = await said(['compare http://hl7.org/fhir/ValueSet/resource-types http://hl7.org/fhir/ValueSet/all-types'])
    expect([out, err]).toEqual(['subset', expect.not.stringContaining('error:')])
  })

  test('ends at exit, and has one storage', async () => {
    const { status, out, err } = await said(['lookup urgent --system x --storage memory', 'exit', `lookup urgent --system ${SYSTEM}`])
    expect([status, out]).toEqual([0, ''])
    expect(err).toContain('the storage is that of the shell')
  })

  test.each([
    { lines: [`lookup none --system ${SYSTEM}`, `lookup urgent --system ${SYSTEM}`], status: 1 },
    { lines: ['lookup urgent --storage memory'], status: 1 },
    { lines: [`lookup urgent --system ${SYSTEM}`, 'help', 'help lookup', 'exit', 'lokup'], status: 0 },
  ])('from a pipe, $lines end with status $status', async ({ lines, status }) => {
    expect(await said(lines, { isPrompting: false })).toMatchObject({ status })
  })

  test.each<[string, readonly string[]]>([
    ['val', ['validate-code', 'validate']],
    ['expand --disp', ['--display-language']],
    ['expand http://example.org/fhir/ValueSet/vis', ['http://example.org/fhir/ValueSet/visit-priority']],
    ['lookup x --system http://example.org/fhir/CodeSystem/v', [SYSTEM]],
    [`lookup --system ${SYSTEM} urg`, ['urgent']],
    ['lookup --system urn:none u', []],
    ['evaluate heart', ['heart-rate-count']],
    ['execute b', ['bmi']],
    ['schema http://hl7.org/fhir/StructureDefinition/bodyw', ['http://hl7.org/fhir/StructureDefinition/bodyweight']],
  ])('completes %j', async (line, words) => {
    let completed: readonly string[] = []
    await said([], { asked: async (completer) => void ([completed] = await completer(line)) })
    expect(completed).toEqual(words)
  })

  test.each([
    ['a b', ['a', 'b']],
    [`  a  'b c' "d 'e'"x `, ['a', 'b c', "d 'e'x"]],
    ['""', ['']],
    ['', []],
  ])('splits %j as a shell does', (line, words) => {
    expect(wordsOf(line)).toEqual(words)
  })
})

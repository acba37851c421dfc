import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { run } from '../program.js'

async function script(shell: string): Promise<string> {
  const out: string[] = []
  const status = await run(['completion', shell], { out: (line) => out.push(line), err: () => {}, stdin: async () => '' })
  expect(status).toBe(0)
  return out.join('\n')
}

/** What bash offers for a line, whose last word is the one under the cursor. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _fhir_ops; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${await script('bash')}\n${call}`], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

test.skipIf(!has('bash'))('bash completes commands, their subcommands and options', async () => {
  expect(await offered('fhir-ops', 'val')).toEqual(['validate-code', 'validate'])
  expect(await offered('fhir-ops', 'token', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']))
  expect(await offered('fhir-ops', 'token', 'create', '--st')).toEqual(['--storage'])
  expect(await offered('fhir-ops', 'expand', 'http://example.org', '--fil')).toEqual(['--filter'])
  expect(await offered('fhir-ops', 'nothing', '--ver')).toEqual(['--version'])
})

test.each(['zsh', 'fish'])('%s reads its script', async (shell) => {
  const text = await script(shell)
  expect(text).toContain('validate-code')
  expect(text).toContain('storage')
  if (has(shell)) expect(spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { sourceEntries, workspacePackages } from './scripts/packages.mjs'
import { useOwnTemporaryFolder } from './test/temporary-folder.js'

useOwnTemporaryFolder()

// Tests import packages by name and get the sources, so that no test runs against a stale build.
const alias = workspacePackages().flatMap((pkg) =>
  sourceEntries(pkg).map(([subpath, file]) => ({
    find: new RegExp(`^${pkg.manifest.name}${subpath.slice(1)}$`),
    replacement: file,
  })),
)

// `npm test` leaves these to `npm run test:all`: crashes, imports of releases, examples, servers under load.
const quick = process.env['FHIR_OPS_TESTS'] === 'quick'
const files = { include: ['**/*.test.ts'], exclude: ['**/node_modules/**', '**/dist/**', ...(quick ? ['**/*.slow.test.ts'] : [])] }

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    // A hang is found by these, a busy machine is not.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    pool: 'forks',
    execArgv: ['--expose-gc'],
    // One process for many files: starting one and importing the sources takes longer than most files. No test may leave a global changed.
    isolate: false,
    maxWorkers: availableParallelism(),
    fsModuleCache: true,
    setupFiles: [fileURLToPath(new URL('test/setup.ts', import.meta.url))],
    // A project for each package, so that one of them can be named. Processes are not shared between projects, so the quick run has one project for all.
    projects: quick
      ? [{ extends: true, test: { name: 'packages', root: fileURLToPath(new URL('packages', import.meta.url)), ...files } }]
      : workspacePackages().map(({ dir, manifest }) => ({ extends: true, test: { name: manifest.name, root: dir, ...files } })),
  },
})

export default config

import { defineConfig } from 'vitest/config'
import { sourceEntries, workspacePackages } from './scripts/packages.mjs'

// Tests import packages by name and get the sources, so that no test runs against a stale build.
const alias = workspacePackages().flatMap((pkg) =>
  sourceEntries(pkg).map(([subpath, file]) => ({
    find: new RegExp(`^${pkg.manifest.name}${subpath.slice(1)}$`),
    replacement: file,
  })),
)

export default defineConfig({
  resolve: { alias },
  test: {
    // A hang is found by these, a busy machine is not.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    projects: workspacePackages().map(({ dir, manifest }) => ({
      extends: true,
      test: { name: manifest.name, root: dir, include: ['**/*.test.ts'], exclude: ['**/node_modules/**', '**/dist/**'] },
    })),
  },
})

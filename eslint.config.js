// Lint rules: the recommended type-aware set, plus the house rules of docs/decisions.md.
import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const nodeGlobals = Object.fromEntries(
  [
    'process',
    'fetch',
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'performance',
    'URL',
    'AbortController',
    'AbortSignal',
    'Buffer',
  ].map((name) => [name, 'readonly']),
);

export default defineConfig(
  {
    ignores: [
      'build/',
      'node_modules/',
      '.local/',
      'clients/*/src/',
      'clients/*/examples/',
      'clients/*/dist/',
      'console/src/contract/generated/',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_$', argsIgnorePattern: '^_$' }],
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      'no-else-return': 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'config/ alone reads the environment.' },
      ],
    },
  },
  {
    // Answers are read as loosely typed JSON in tests, whose assertions say what is expected.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'no-console': 'off',
    },
  },
  {
    // Handlers of components are passed on detached, and declared as methods so that a field of texts is a field.
    files: ['console/**/*.ts', 'console/**/*.tsx'],
    rules: { '@typescript-eslint/unbound-method': 'off' },
  },
  {
    files: ['**/*.mjs', '*.js'],
    languageOptions: { globals: nodeGlobals },
    rules: { 'no-unused-vars': ['error', { varsIgnorePattern: '^_$' }] },
  },
  prettier,
);

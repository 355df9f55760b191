"""`kserdes schema export` and `import`: whole registries."""

#!/usr/bin/env bash
# GRPO with verl, after supervised fine-tuning; figures from Omanic's table 8. MODEL: the fine-tuned checkpoint.
set -euo pipefail
cd "$(dirname "$0")"
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files=train.parquet \
    data.val_files="${VALIDATION:-train.parquet}" \
    data.train_batch_size=512 \
    data.max_prompt_length=1024 \
    data.max_response_length=1024 \
    data.filter_overlong_prompts=True \
    data.truncation=error \
    actor_rollout_ref.model.path="${MODEL:-Qwen/Qwen3-8B}" \
    actor_rollout_ref.actor.optim.lr=1e-5 \
    actor_rollout_ref.actor.ppo_mini_batch_size=512 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=32 \
    actor_rollout_ref.actor.ppo_epochs=1 \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.actor.kl_loss_coef=0.01 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=5 \
    custom_reward_function.path=reward.py \
    custom_reward_function.name=compute_score \
    trainer.n_gpus_per_node="${GPUS:-4}" \
    trainer.nnodes=1 \
    trainer.total_epochs=3 \
    trainer.logger='["console"]' \
    trainer.project_name=hopwright \
    trainer.experiment_name=grpo \
    "$@"
